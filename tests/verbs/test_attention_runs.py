"""Runs of the model attention: they keep the facts they heard of, and are of no others."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import assent
import toy
from assent.core.benchmark import Benchmark
from assent.errors import DataError
from assent.files.recording import record
from assent.verbs.refit import refit

QUICK = ("model.dim=8", "train.epochs=4", "train.evaluate_every=2", "train.threads=1")


@pytest.fixture
def benchmark(tmp_path):
    graph = toy.crowd(0, num_entities=40, num_relations=3, facts_each=6)
    assent.save(assent.build(graph, removed=4, seed=1), tmp_path / "benchmark")
    return tmp_path / "benchmark"


def train(benchmark, out, *changes, **options):
    return assent.train(benchmark, "attention", out=out, changes=(*QUICK, *changes), **options)


def weights(folder):
    return load_file(folder / "model.safetensors")


class StopsAfter:
    """A watcher that ends the training after so many steps."""

    def __init__(self, steps):
        self.left = steps

    def step(self, *values):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt

    def event(self, **values): ...


@pytest.mark.parametrize("candidates", [0, 10])
def test_a_resumed_training_ends_with_the_same_bits(benchmark, tmp_path, candidates):
    changes = f"train.candidates={candidates}", "train.checkpoint_minutes=0", "model.heard=2"
    train(benchmark, tmp_path / "once", *changes)
    for steps in (3, 4):
        with pytest.raises(KeyboardInterrupt):
            train(benchmark, tmp_path / "twice", *changes, watcher=StopsAfter(steps))
    train(benchmark, tmp_path / "twice", *changes)
    once, twice = weights(tmp_path / "once"), weights(tmp_path / "twice")
    assert once.keys() == twice.keys()
    assert all(torch.equal(once[name], twice[name]) for name in once)


def test_a_run_keeps_the_facts_that_it_heard_of(benchmark, tmp_path):
    run = train(benchmark, tmp_path / "run")
    assert len(run.model.others) == 2 * len(run.benchmark.train)
    again = assent.load_run(tmp_path / "run")
    asked = torch.tensor([0, 5]), torch.tensor([1, 4])
    assert torch.equal(again.model.scores(*asked), run.model.scores(*asked))
    assert again.model.digest() == run.model.digest()


def test_weights_that_heard_of_other_facts_are_refused(benchmark, tmp_path):
    run = train(benchmark, tmp_path / "run")
    path = tmp_path / "run" / "model.safetensors"
    run.model.see(np.flip(run.benchmark.train[:, [2, 1, 0]], 0))
    save_file(run.model.state_dict(), path)
    record(path)
    with pytest.raises(DataError, match="heard of other facts than those of the benchmark"):
        assent.load_run(tmp_path / "run")


def test_a_judge_hears_it_and_all_verbs_take_it(benchmark, tmp_path):
    run = train(benchmark, tmp_path / "run")
    other = assent.train(benchmark, "complex", out=tmp_path / "other", changes=QUICK)
    assert 0 <= assent.evaluate(run, assent.tune(run, rule="per-relation")).f1() <= 1
    judge = assent.tune(other, "judge", others={str(tmp_path / "run"): run})
    assert "score_1" in judge.rescorer.names
    assent.save_decider(judge, tmp_path / "other", other.benchmark)
    again = assent.load_decider(tmp_path / "other", other)
    one, two = (assent.evaluate(other, decider) for decider in (judge, again))
    assert np.array_equal(one.accepted, two.accepted)


def test_a_final_fit_hears_of_all_facts(benchmark, tmp_path):
    run = train(benchmark, tmp_path / "run")
    whole = refit(run)
    assert len(whole.model.others) == 2 * len(run.benchmark.whole().train)


@pytest.mark.parametrize("new_entity", [True, False])
def test_an_updated_run_hears_of_the_new_facts(benchmark, tmp_path, new_entity):
    run = train(benchmark, tmp_path / "run")
    names = run.benchmark.vocabulary
    known = {tuple(fact) for fact in run.benchmark.train.tolist()}
    head, relation, tail = next(
        (a, r, b) for a in range(9) for r in range(3) for b in range(9) if (a, r, b) not in known
    )
    where = "nowhere" if new_entity else names.entities[tail]
    new = toy.of_names([(names.entities[head], names.relations[relation], where)])
    updated = assent.update(run, new, out=tmp_path / "updated", held_out=0.0).run
    assert isinstance(updated.benchmark, Benchmark)
    assert len(updated.model.others) == len(run.model.others) + 2
    assert updated.model.saw(updated.benchmark.train)
    assert updated.model.num_entities == names.num_entities + new_entity
    assert assent.load_run(tmp_path / "updated").model.digest() == updated.model.digest()
