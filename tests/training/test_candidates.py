"""Candidates of a step: drawn by seed and step alone, by strata of entities with as many facts."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from assent.core.queries import Queries
from assent.training.batches import Batch
from assent.training.candidates import LEAST, STRATA, Strata, num_drawn, num_facts, sample

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


FACTS = np.arange(ENTITIES) ** 2  # of the first entity none, of the last 361


@given(answer_sets, st.integers(1, ENTITIES - 1), st.integers(0, 5), st.integers(0, 5))
def test_a_sample_is_the_batch_in_other_numbers(sets, count, seed, step):
    whole = batch(sets)
    small, entities, drawn = sample(whole, Strata.of(FACTS, count), seed, step)
    assert drawn.number == count and sum(drawn.entities) == ENTITIES
    assert len(entities.unique()) == len(entities) >= count
    assert torch.equal(entities[small.anchors], whole.anchors)
    assert torch.equal(entities[small.answers], whole.answers)
    assert torch.equal(small.offsets, whole.offsets)
    assert torch.equal(small.relations, whole.relations)
    asked = {*whole.anchors.tolist(), *whole.answers.tolist()}
    assert set(entities[count:].tolist()) <= asked


@given(answer_sets, st.integers(1, ENTITIES - 1), st.integers(0, 5), st.integers(0, 5))
def test_a_sample_is_those_drawn_and_then_the_others_of_the_batch(sets, count, seed, step):
    whole, strata = batch(sets), Strata.of(FACTS, count)
    small, entities, _ = sample(whole, strata, seed, step)
    known = strata.draw(seed, step).tolist()
    for entity in sorted([*whole.anchors.tolist(), *whole.answers.tolist()]):
        known += [entity] if entity not in known else []
    assert entities.tolist() == known
    assert small.anchors.tolist() == [known.index(entity) for entity in whole.anchors]
    assert small.answers.tolist() == [known.index(entity) for entity in whole.answers]


@given(
    st.lists(st.integers(0, 10_000), min_size=1, max_size=200).map(np.array),
    st.floats(0.001, 1),
)
def test_every_entity_is_in_one_stratum_that_has_as_many_as_are_drawn(facts, share):
    count = max(int(share * len(facts)), 1)
    strata = Strata.of(facts, count)
    assert sorted(strata.order) == list(range(len(facts)))
    assert (np.diff(facts[strata.order]) >= 0).all()
    drawn = strata.drawn
    assert drawn.number == count and sum(drawn.entities) == len(facts)
    assert len(drawn.numbers) == min(STRATA, count)
    assert all(0 < number <= size for number, size in zip(*drawn, strict=True))


@given(answer_sets, answer_sets, st.integers(0, 5), st.integers(0, 5))
def test_seed_and_step_alone_decide_what_is_drawn(sets, others, seed, step):
    strata = Strata.of(FACTS, 7)
    one, other = (sample(batch(x), strata, seed, step).entities[:7] for x in (sets, others))
    assert torch.equal(one, other)


def test_another_step_or_seed_draws_others():
    strata = Strata.of(np.arange(1000), 100)
    drawn = {tuple(strata.draw(*at)) for at in [(0, 0), (0, 1), (1, 0), (1, 1)]}
    assert len(drawn) == 4


def test_each_entity_is_drawn_as_often_as_those_that_stand_for_it_say():
    """So that a sum over those drawn, weighed, is on average the sum over all."""
    strata, steps = Strata.of(FACTS, 6), 4000
    times = np.zeros(ENTITIES)
    for step in range(steps):
        times[strata.draw(0, step)] += 1
    expected = np.concatenate(
        [np.full(size, number / size) for number, size in zip(*strata.drawn, strict=True)]
    )
    spread = np.sqrt(steps * expected * (1 - expected)) + 1e-9
    assert (abs(times[strata.order] - steps * expected) < 5 * spread).all()
    values = np.random.default_rng(0).normal(size=ENTITIES)
    weights = strata.drawn.parts(0, 6).by_column(torch.zeros(1)).numpy()
    sums = [values[strata.draw(1, step)] @ weights for step in range(steps)]
    assert np.mean(sums) == pytest.approx(values.sum(), abs=5 * np.std(sums) / steps**0.5)


def test_entities_of_many_facts_are_drawn_more_often():
    rng = np.random.default_rng(0)
    facts = rng.zipf(1.8, 10_000).clip(max=5000)
    drawn = Strata.of(facts, 800).drawn
    rates = np.array(drawn.numbers) / np.array(drawn.entities)
    assert (np.diff(rates) >= 0).all()
    assert rates[0] > 0.04  # half of the 8 % are drawn by chance
    assert rates[-1] > 0.2


def test_without_facts_all_are_drawn_alike():
    drawn = Strata.of(np.zeros(1600, dtype=int), 160).drawn
    assert set(drawn.numbers) == {10} and set(drawn.entities) == {100}


def test_facts_are_counted_from_both_ends():
    queries = Queries.grouped(np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([1, 2, 1]))
    assert num_facts(queries, 4).tolist() == [0, 2, 1, 0]


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
        (0.06, 13_541, 816),
        (0.01, 13_541, LEAST),
        (0.1, 1900, 0),  # too small a graph for a share
        (0.1, 4000, LEAST),
        (0.1, 40_000, 4000),
        (0.1, 40_111, 4016),  # a multiple of 16
        (0.6, 40_000, 0),
    ],
)
def test_a_share_or_a_number_and_no_more_than_there_are(candidates, entities, expected):
    assert num_drawn(candidates, entities) == expected
