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


@given(st.integers(1, 50), st.integers(0, 3), st.integers(0, 3))
def test_an_epoch_has_every_query_with_its_answers_once(batch_size, seed, epoch):
    queries = train_queries()
    found = [row for batch in batches(queries, batch_size, seed, epoch) for row in rows_of(batch)]
    assert sorted(found) == sorted(all_rows(queries))


@given(st.integers(1, 20), st.data())
def test_an_epoch_taken_up_in_the_middle_has_just_the_rest(batch_size, data):
    queries = train_queries()
    whole = [rows_of(batch) for batch in batches(queries, batch_size, 1, 2)]
    assert len(whole) == num_batches(queries, batch_size)
    start = data.draw(st.integers(0, len(whole)))
    assert [rows_of(batch) for batch in batches(queries, batch_size, 1, 2, start)] == whole[start:]


def test_another_epoch_has_another_order():
    queries = train_queries()
    first, second = (rows_of(next(batches(queries, 5, 0, epoch))) for epoch in (0, 1))
    assert first != second


def test_without_queries_there_are_no_batches():
    none = Queries.grouped(*(np.empty(0, np.int32),) * 3)
    assert list(batches(none, 5, 0, 0)) == [] and num_batches(none, 5) == 0
