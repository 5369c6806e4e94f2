"""Candidates of a step: drawn by seed and step alone, each entity as often as any other."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from assent.training.batches import Batch
from assent.training.candidates import LEAST, num_drawn, sample

ENTITIES = 20
answer_sets = st.lists(st.lists(st.integers(0, ENTITIES - 1), unique=True), min_size=1, max_size=6)


def batch(sets, anchors=None):
    offsets = np.cumsum([0, *(len(ids) for ids in sets)])
    anchors = anchors or [3 * i % ENTITIES for i in range(len(sets))]
    return Batch(
        torch.tensor(anchors),
        torch.arange(len(sets)),
        torch.from_numpy(offsets),
        torch.tensor([i for ids in sets for i in ids], dtype=torch.int64),
    )


@given(answer_sets, st.integers(1, ENTITIES - 1), st.integers(0, 5), st.integers(0, 5))
def test_a_sample_is_the_batch_in_other_numbers(sets, count, seed, step):
    whole = batch(sets)
    small, entities, drawn = sample(whole, ENTITIES, count, seed, step)
    assert drawn == (count, ENTITIES) and drawn.weight == ENTITIES / count
    assert len(entities.unique()) == len(entities) >= count
    assert torch.equal(entities[small.anchors], whole.anchors)
    assert torch.equal(entities[small.answers], whole.answers)
    assert torch.equal(small.offsets, whole.offsets)
    assert torch.equal(small.relations, whole.relations)
    asked = {*whole.anchors.tolist(), *whole.answers.tolist()}
    assert set(entities[count:].tolist()) <= asked


@given(answer_sets, answer_sets, st.integers(0, 5), st.integers(0, 5))
def test_seed_and_step_alone_decide_what_is_drawn(sets, others, seed, step):
    one, other = (sample(batch(x), ENTITIES, 7, seed, step).entities[:7] for x in (sets, others))
    assert torch.equal(one, other)


def test_another_step_or_seed_draws_others():
    empty = batch([[]])
    drawn = {
        tuple(sample(empty, 1000, 100, seed, step).entities[:100].tolist())
        for seed, step in [(0, 0), (0, 1), (1, 0), (1, 1)]
    }
    assert len(drawn) == 4


def test_each_entity_is_drawn_as_often_as_any_other():
    empty, times, steps = batch([[]]), np.zeros(ENTITIES), 4000
    for step in range(steps):
        times[sample(empty, ENTITIES, 5, 0, step).entities[:5].numpy()] += 1
    spread = np.sqrt(steps * 0.25 * 0.75)
    assert (abs(times - steps / 4) < 5 * spread).all()


@pytest.mark.parametrize(
    ("candidates", "entities", "expected"),
    [
        (0, 50, 0),
        (7, 50, 7),
        (25, 50, 25),
        (26, 50, 0),  # more than half
        (99, 50, 0),
        (1354, 13_541, 1354),
        (0.1, 13_541, 1360),
        (0.01, 13_541, LEAST),
        (0.1, 1900, 0),  # more than half, as LEAST is
        (0.1, 40_000, 4000),
        (0.1, 40_111, 4016),  # a multiple of 16
        (0.6, 40_000, 0),
    ],
)
def test_a_share_or_a_number_and_no_more_than_there_are(candidates, entities, expected):
    assert num_drawn(candidates, entities) == expected
