"""Several processes that share the entities learn what one learns, and read each other's files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from assent.errors import ConfigError, DataError
from assent.files.tensors import Piecewise, write_tensors
from assent.geometry import Answers, Peers, peers
from assent.models import create, names
from assent.models.embedding import DotModel
from assent.models.making import shared_by
from assent.training.batches import batches
from assent.training.candidates import Strata, num_facts, sample, sample_of
from assent.training.checkpoints import (
    Position,
    newest_checkpoint,
    read_checkpoint,
    save_checkpoint,
    save_shard,
    vouch,
    vouchers,
)
from assent.training.shards import Share, read_shards, shard_path
from assent.training.together import refuse_unshared
from sharded_steps import CASES, ENTITIES, MODELS, queries

STEPS = Path(__file__).parents[1] / "sharded_steps.py"
TABLES = ["bias", "entities"]


def started(size, *words):
    """What so many processes print together, started by torchrun."""
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={size}"]
    command = [sys.executable, *(launcher if size > 1 else []), *map(str, words)]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, env=one_thread)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def alone():
    return json.loads(started(1, STEPS))


@pytest.mark.parametrize("size", [2, 4])
def test_the_loss_is_that_of_one_process_step_by_step(alone, size):
    together = json.loads(started(size, STEPS))
    assert together.keys() == alone.keys() and len(alone) == len(CASES)
    for what, losses in alone.items():
        np.testing.assert_allclose(together[what], losses, rtol=1e-5, err_msg=what)
        assert len(set(losses)) == len(losses)  # it learns: none is the same as another


def test_every_model_is_compared_or_refused():
    for name in names():
        with shared_by(Peers(0, 2)):
            model = create(name, 20, 3, {"dim": 16})
        if name in ("attention", "text"):
            own = rf"{type(model).__name__}: meets the entities in its own way"
            with pytest.raises(ConfigError, match=own):
                refuse_unshared(model)
        else:
            refuse_unshared(model)
            assert name in dict(MODELS)


def test_a_model_that_meets_the_entities_in_its_own_way_is_refused():
    class Own(DotModel):
        def vectors_of(self, which):
            return super().vectors_of(which) * 2

        def encode(self, anchors, relations):
            return anchors

    with pytest.raises(ConfigError, match=r"Own: .*\(vectors_of\)"):
        refuse_unshared(Own(5, 2, Own.Settings()))
    with shared_by(Peers(0, 9)), pytest.raises(ConfigError, match="9 processes, but 5 entities"):
        refuse_unshared(create("complex", 5, 2, {"dim": 4}))


@given(st.integers(1, 700), st.integers(1, 20), st.integers(1, 5), st.sampled_from([1, 64, 4096]))
def test_each_process_starts_with_its_rows_of_what_one_draws(entities, dim, size, block):
    before, peers.BLOCK = peers.BLOCK, block
    try:
        torch.manual_seed(1)
        whole, after = torch.randn(entities, dim), torch.randn(3)
        for rank in range(size):
            torch.manual_seed(1)
            assert torch.equal(Peers(rank, size).drawn(entities, dim), whole[rank::size])
            assert torch.equal(torch.randn(3), after)
    finally:
        peers.BLOCK = before


@given(st.integers(1, 5), st.integers(0, 30))
def test_the_samples_of_all_processes_are_the_sample_of_one(size, step):
    asked = queries()
    strata = Strata.of(num_facts(asked, ENTITIES), 40)
    batch = next(batches(asked, 20, 0, 0))
    whole = sample(batch, strata, 5, step)
    parts = [sample_of(Peers(rank, size), batch, strata, 5, step) for rank in range(size)]
    together = torch.cat([part.entities for part in parts])
    assert sorted(together.tolist()) == sorted(whole.entities.tolist())
    weights = dict(zip(whole.entities.tolist(), _weights(whole), strict=False))
    for part in parts:
        found = dict(zip(part.entities.tolist(), _weights(part), strict=False))
        assert found == pytest.approx({entity: weights[entity] for entity in found})
    drawn = sum(sum(part.drawn.numbers) for part in parts)
    assert drawn == sum(whole.drawn.numbers)
    if size == 1:
        assert parts[0].entities.tolist() == whole.entities.tolist()


def _weights(part):
    """How often each entity that was drawn counts."""
    number = part.drawn.number
    return part.drawn.parts(0, number).by_column(torch.empty(0, dtype=torch.float64)).tolist()


@given(st.lists(st.lists(st.integers(0, 30), max_size=5, unique=True), max_size=6))
def test_each_answer_is_with_the_process_that_has_its_entity(sets):
    offsets = torch.tensor(np.cumsum([0, *map(len, sets)]))
    answers = Answers(offsets, torch.tensor([x for each in sets for x in each], dtype=torch.int64))
    found = [set() for _ in sets]
    for rank in range(3):
        mine = Peers(rank, 3).answers(answers)
        for row, place in zip(mine.rows.tolist(), mine.ids.tolist(), strict=True):
            found[row].add(3 * place + rank)
    assert found == [set(each) for each in sets]


def tensors(entities):
    torch.manual_seed(entities)
    return {
        "entities": torch.randn(entities, 3),
        "bias": torch.randn(entities),
        "relations": torch.randn(4, 3),
        "steps": torch.tensor(7),
    }


def save_in_shards(folder, whole, size, position=None, run="a"):
    position, sums = position or Position(), []
    for rank in range(size):
        mine = {
            name: x[rank::size] if name in TABLES else x
            for name, x in whole.items()
            if rank == 0 or name in TABLES
        }
        sums.append(save_shard(folder, position, mine, Share(rank, size)))
    vouch(folder, position, run, {"shards": sums, "tables": TABLES})


@pytest.mark.parametrize("entities", [4, 5, 23])
@pytest.mark.parametrize("wrote", [1, 2, 4])
@pytest.mark.parametrize("reads", [1, 2, 3, 4])
def test_any_number_of_processes_reads_what_any_number_wrote(tmp_path, entities, wrote, reads):
    whole = tensors(entities)
    if wrote == 1:
        save_checkpoint(tmp_path, Position(), whole, "a")
    else:
        save_in_shards(tmp_path, whole, wrote)
    for rank in range(reads):
        _, found = read_checkpoint(vouchers(tmp_path)[0], "a", Share(rank, reads), TABLES)
        for name, x in whole.items():
            assert torch.equal(found[name], x[rank::reads] if name in TABLES else x)


def test_a_damaged_shard_leads_back_to_the_checkpoint_before(tmp_path):
    for step in range(3):
        save_in_shards(tmp_path, tensors(9), 2, Position(step=step))
    assert [voucher.stem[-1] for voucher in vouchers(tmp_path)] == ["1", "2"]
    assert len(list(tmp_path.glob("*.safetensors"))) == 4  # what is too old is gone
    shard = shard_path(tmp_path / "00000-0000002.safetensors", Share(1, 2))
    shard.write_bytes(shard.read_bytes()[:-1] + b"!")
    position, found, complaints = newest_checkpoint(tmp_path, "a")
    assert position.step == 1 and torch.equal(found["bias"], tensors(9)["bias"])
    assert complaints == [
        f"{shard}: damaged (its checksum is wrong); going back to the one before it"
    ]
    shard.unlink()
    assert "not there" in newest_checkpoint(tmp_path, "a")[2][0]


def test_shards_that_do_not_fit_together_are_damaged(tmp_path):
    whole, position = tensors(9), Position()
    sums = [
        save_shard(tmp_path, position, whole, Share(0, 2)),
        save_shard(tmp_path, position, {**whole, "bias": whole["bias"][:2]}, Share(1, 2)),
    ]
    for shards, wrong in ((sums, "do not fit together"), ([], "not named")):
        vouch(tmp_path, position, "a", {"shards": shards, "tables": TABLES})
        for share in (Share(0, 1), Share(1, 2)):
            with pytest.raises(DataError, match=wrong):
                read_checkpoint(vouchers(tmp_path)[0], "a", share, TABLES)


def test_a_table_is_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("assent.training.shards.BLOCK", 6)
    whole = tensors(23)
    save_file(whole, tmp_path / "whole.safetensors")
    found = read_shards([tmp_path / "whole.safetensors"], TABLES, Share(1, 3))
    assert torch.equal(found["entities"], whole["entities"][1::3])


def test_weights_in_pieces_are_the_bytes_of_weights_at_once(tmp_path):
    model = create("conve", 23, 3, {"dim": 16})
    state = {name: x.contiguous() for name, x in model.state_dict().items()}
    save_file(state, tmp_path / "whole")
    pieces = {
        name: Piecewise(tuple(x.shape), x.dtype, x.split(5) if x.dim() else [x])
        for name, x in state.items()
    }
    write_tensors(tmp_path / "pieces", pieces)
    assert (tmp_path / "pieces").read_bytes() == (tmp_path / "whole").read_bytes()
    assert load_file(tmp_path / "pieces").keys() == state.keys()
