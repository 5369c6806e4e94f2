"""Processes that share the entities decide, measure and complete as one does, to the last byte."""

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import assent
import toy
from assent.core import columns
from assent.core.columns import tile_width
from assent.errors import ConfigError
from assent.files.facts import write_facts
from assent.files.portions import digest_of_weights, read_portion
from assent.files.recording import recorded
from assent.geometry import Peers
from assent.geometry.threads import one_thread
from assent.models.making import shared_by
from assent.training.together import table_names
from peers_in_threads import in_all
from trained_runs import learned

RULES = ("global", "per-relation", "precision", "paper-global", "paper-relation")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Tiles so small that each of four processes has some."""
    monkeypatch.setattr(columns, "FEWEST", 16)
    monkeypatch.setattr(columns, "TILES", 16)
    with one_thread():
        yield


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run, and the same with weights so coarse that many candidates score the same."""
    folder, before = tmp_path_factory.mktemp("runs"), torch.get_num_threads()
    kb = toy.crowd(0, num_entities=80, num_relations=3, facts_each=6)
    assent.save(toy.built(kb), folder / "benchmark")
    learned(folder / "benchmark", folder / "fine", "train.epochs=20")
    torch.set_num_threads(before)
    shutil.copytree(folder / "fine", folder / "coarse")
    weights = load_file(folder / "coarse" / "model.safetensors")
    with recorded(folder / "coarse" / "model.safetensors") as part:
        save_file({name: (x * 4).round() / 4 for name, x in weights.items()}, part)
    return folder


def shared(folder, work, size):
    """What `work(run)` of each of so many processes gives; each has some of the entities."""

    def mine(peers):
        with shared_by(peers):
            return work(assent.load_run(folder))

    return in_all(size, mine)


def all_the_same(folder, work):
    """Compares what one process gives with what 2 and 4 do."""
    alone = work(assent.load_run(folder))
    for size in (2, 4):
        assert shared(folder, work, size) == [alone] * size
    return alone


def decided(run, rule, folder):
    decider = assent.tune(run, rule, progress=False)
    place = folder / f"{rule}-{id(run)}.json"
    assent.save_decider(decider, place, run.benchmark)
    return place.read_bytes(), decider


@pytest.mark.parametrize("name", ["fine", "coarse"])
def test_deciders_and_what_they_are_worth_are_the_same_bytes(runs, tmp_path, name):
    def work(run):
        found = []
        for rule in RULES:
            written, decider = decided(run, rule, tmp_path)
            measured = assent.evaluate(run, decider, progress=False)
            found += [written, json.dumps(measured.to_json())]
        return found

    assert tile_width(assent.load_run(runs / name).model.num_entities) == 16
    all_the_same(runs / name, work)


@pytest.mark.parametrize("name", ["fine", "coarse"])
@pytest.mark.parametrize("precision", [None, 0.05])
def test_new_facts_are_the_same_bytes(runs, tmp_path, name, precision):
    def work(run):
        decider = None if precision else assent.tune(run, "global", progress=False)
        options = {"decider": decider, "review_above": 0.001, "progress": False}
        options |= {"refit": False} if precision else {}
        found = assent.complete(run, precision, **options)
        place = tmp_path / f"{id(run)}.jsonl"
        write_facts(place, found.facts)
        return place.read_bytes(), repr(found.outcomes)

    facts, _ = all_the_same(runs / name, work)
    assert facts.count(b"\n") > 10


def test_a_judge_decides_the_same(runs, tmp_path):
    def work(run):
        written, decider = decided(run, "judge", tmp_path)
        return written, json.dumps(assent.evaluate(run, decider, progress=False).to_json())

    all_the_same(runs / "fine", work)


def test_a_portion_has_the_rows_of_its_process_and_the_sum_of_the_whole(runs):
    run = assent.load_run(runs / "fine")
    weights = load_file(runs / "fine" / "model.safetensors")
    names, count = table_names(run.model), run.model.num_entities
    for size in (1, 2, 3, 4):
        seen = []
        for rank in range(size):
            peers = Peers(rank, size).in_tiles(16)
            mine = read_portion(runs / "fine", names, peers)
            ids = peers.ids_of(torch.arange(peers.count(count)))
            assert torch.equal(peers.rows_of(ids), torch.arange(len(ids)))
            assert bool(peers.mine(ids).all())
            for name, tensor in weights.items():
                assert torch.equal(mine[name], tensor[ids] if name in names else tensor)
            seen += ids.tolist()
        assert sorted(seen) == list(range(count))
    assert digest_of_weights(runs / "fine", "ComplEx") == run.model.digest()


def test_more_processes_than_tiles_are_refused(runs):
    def work(run):
        raise AssertionError("loaded")

    with pytest.raises(ConfigError, match=r"9 processes, but \d+ entities, dealt out 16 at a time"):
        shared(runs / "fine", work, 9)


def test_unfinished_weights_are_refused(runs):
    with shared_by(Peers(0, 2)), pytest.raises(ConfigError, match="unfinished weights are read by"):
        assent.load_run(runs / "fine", unfinished=True)


def test_sums_by_tile_are_those_of_any_process():
    rng = np.random.default_rng(0)
    values = rng.random((5, 100), np.float32)
    whole = columns.sums_by_tile(values, 16, values)
    assert whole.shape == (5, 7)
    np.testing.assert_allclose(whole.sum(1), (values.astype(np.float64) ** 2).sum(1), rtol=1e-6)
    for size in (2, 3):
        for rank in range(size):
            peers = Peers(rank, size).in_tiles(16)
            mine = np.ascontiguousarray(values[:, peers.ids_of(np.arange(peers.count(100)))])
            assert np.array_equal(columns.sums_by_tile(mine, 16, mine), whole[:, rank::size])
