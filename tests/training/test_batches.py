"""Batches: every query once an epoch, in an order that only seed and epoch decide."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import toy
from assent.core.queries import Queries, both_ways
from assent.training.batches import batches, num_batches


def train_queries() -> Queries:
    kb = toy.whole()
    return Queries.grouped(*both_ways(kb.facts, kb.vocabulary.num_relations))


def rows_of(batch):
    """A batch as a list of (anchor, relation, answers)."""
    offsets = batch.offsets.tolist()
    answers = batch.answers.tolist()
    return [
        (anchor, relation, tuple(answers[first:last]))
        for anchor, relation, first, last in zip(
            batch.anchors.tolist(), batch.relations.tolist(), offsets, offsets[1:], strict=False
        )
    ]


def all_rows(queries):
    return [
        (int(a), int(r), tuple(queries.answers[queries.offsets[q] : queries.offsets[q + 1]]))
        for q, (a, r) in enumerate(zip(queries.anchors, queries.relations, strict=True))
    ]


@given(st.integers(1, 50), st.integers(0, 3), st.integers(0, 3), st.integers(0, 5))
def test_an_epoch_has_every_query_with_its_answers_once(batch_size, seed, epoch, slots):
    queries = train_queries()
    epoch = batches(queries, batch_size, seed, epoch, slots=slots)
    found = [row for batch in epoch for row in rows_of(batch)]
    assert sorted(found) == sorted(all_rows(queries))


@given(st.integers(1, 20), st.integers(0, 5), st.data())
def test_an_epoch_taken_up_in_the_middle_has_just_the_rest(batch_size, slots, data):
    queries = train_queries()
    whole = [rows_of(batch) for batch in batches(queries, batch_size, 1, 2, slots=slots)]
    assert len(whole) == num_batches(queries, batch_size, slots)
    start = data.draw(st.integers(0, len(whole)))
    rest = batches(queries, batch_size, 1, 2, start, slots)
    assert [rows_of(batch) for batch in rest] == whole[start:]


@given(st.integers(1, 20), st.integers(1, 5), st.integers(0, 3))
def test_a_batch_of_few_slots_has_no_more_of_them_and_of_queries_than_asked_for(
    batch_size, slots, epoch
):
    queries = train_queries()
    for batch in batches(queries, batch_size, 0, epoch, slots=slots):
        assert len(batch.relations.unique()) <= slots
        assert len(batch.relations) <= max(batch_size, slots)


def test_no_slot_waits_for_the_end_of_an_epoch_of_batches_of_few_slots():
    """Two slots with a hundred queries each: either comes in the first half."""
    anchors = np.arange(200, dtype=np.int32) % 100
    slots = np.arange(200, dtype=np.int32) // 100
    queries = Queries.grouped(anchors, slots, anchors)
    seen = [set(batch.relations.tolist()) for batch in batches(queries, 10, 0, 0, slots=1)]
    assert set.union(*seen[:10]) == set.union(*seen[10:]) == {0, 1}


def test_another_epoch_has_another_order():
    queries = train_queries()
    first, second = (rows_of(next(batches(queries, 5, 0, epoch))) for epoch in (0, 1))
    assert first != second


def test_without_queries_there_are_no_batches():
    none = Queries.grouped(*(np.empty(0, np.int32),) * 3)
    for slots in (0, 2):
        assert list(batches(none, 5, 0, 0, slots=slots)) == []
        assert num_batches(none, 5, slots) == 0
