"""Queries are facts grouped by what they answer; taking and joining lose nothing."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import toy
from assent.core.arrays import frozen
from assent.core.queries import Queries, Subset, both_ways
from assent.errors import DataError


def asked(facts, vocabulary) -> Queries:
    return Queries.grouped(*both_ways(facts, vocabulary.num_relations))


def answers_of(queries: Queries) -> list[tuple[int, int, int, list[int]]]:
    bounds = zip(queries.offsets[:-1], queries.offsets[1:], strict=True)
    answers = [queries.answers[start:end].tolist() for start, end in bounds]
    columns = (queries.anchors.tolist(), queries.relations.tolist(), queries.subsets.tolist())
    return list(zip(*columns, answers, strict=True))


@st.composite
def queries_of(draw, vocabulary):
    """Queries in any order, in any subset, some without answers."""
    kb = draw(st.just(vocabulary).flatmap(toy.lists_of_facts))
    facts = toy.triples(sorted(set(kb)))
    queries = asked(facts, vocabulary)
    rows = draw(st.permutations(range(len(queries))))
    queries = queries.take(np.array(rows, np.int64))
    subsets = st.lists(st.sampled_from(Subset), min_size=len(queries), max_size=len(queries))
    empty = Queries.empty([0], [0], Subset.FAKE)
    return Queries.joined([queries.marked(draw(subsets)), empty])


VOCABULARY = toy.vocabulary_of(4, 2)


def test_a_fact_is_asked_for_from_both_sides():
    kb = toy.of_names([("ada", "knows", "ben"), ("ada", "knows", "cleo")])
    assert toy.named(asked(kb.facts, kb.vocabulary), kb.vocabulary) == {
        ("tail", "ada", "knows", "C", frozenset({"ben", "cleo"})),
        ("head", "ben", "knows", "C", frozenset({"ada"})),
        ("head", "cleo", "knows", "C", frozenset({"ada"})),
    }


def test_a_self_loop_answers_both_of_its_queries():
    kb = toy.of_names([("gus", "knows", "gus")])
    assert toy.named(asked(kb.facts, kb.vocabulary), kb.vocabulary) == {
        ("tail", "gus", "knows", "C", frozenset({"gus"})),
        ("head", "gus", "knows", "C", frozenset({"gus"})),
    }


@given(toy.graphs())
def test_grouping_equals_the_oracle(kb):
    vocabulary = kb.vocabulary
    found = toy.named(asked(kb.facts, vocabulary), vocabulary)
    expected = oracles.grouped(toy.named_facts(kb.facts, vocabulary))
    assert found == {(*query, "C", frozenset(expected[query])) for query in expected}


@given(toy.graphs(), st.randoms(use_true_random=False))
def test_queries_and_answers_ascend_whatever_the_order_of_the_rows(kb, random):
    rows = np.stack(both_ways(kb.facts, kb.vocabulary.num_relations), axis=1)
    shuffled = rows[random.sample(range(len(rows)), len(rows))]
    queries = Queries.grouped(*shuffled.T)
    assert (np.diff(queries.keys(kb.vocabulary.num_entities)) > 0).all()
    assert all(answers == sorted(answers) for *_, answers in answers_of(queries))
    assert answers_of(queries) == answers_of(Queries.grouped(*rows.T))


@given(toy.graphs())
def test_grouped_facts_come_back_once_from_each_side(kb):
    queries = asked(kb.facts, kb.vocabulary)
    twice = sorted(2 * kb.facts.tolist())
    assert sorted(queries.facts(kb.vocabulary.num_relations).tolist()) == twice


@given(queries_of(VOCABULARY))
def test_facts_are_the_answers_in_their_order(queries):
    expected = [
        [anchor, relation, answer] if relation < 2 else [answer, relation - 2, anchor]
        for anchor, relation, _, answers in answers_of(queries)
        for answer in answers
    ]
    assert queries.facts(2).tolist() == expected


@given(queries_of(VOCABULARY), st.data())
def test_taking_places_gives_these_queries_with_their_answers_and_subsets(queries, data):
    rows = data.draw(st.lists(st.integers(0, len(queries) - 1), min_size=1, max_size=10))
    rows_as_list = answers_of(queries)
    assert answers_of(queries.take(rows)) == [rows_as_list[row] for row in rows]


@given(queries_of(VOCABULARY), st.data())
def test_taking_a_mask_and_its_opposite_and_joining_them_loses_nothing(queries, data):
    size = len(queries)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
    one, other = queries.take(mask), queries.take(~mask)
    assert answers_of(one) == [row for row, on in zip(answers_of(queries), mask, strict=True) if on]
    joined = Queries.joined([one, other])
    assert answers_of(joined) == answers_of(one) + answers_of(other)
    assert sorted(answers_of(joined)) == sorted(answers_of(queries))


@given(queries_of(VOCABULARY))
def test_taking_no_query_leaves_queries_without_any(queries):
    for nothing in (np.zeros(len(queries), bool), np.empty(0, np.int64)):
        taken = queries.take(nothing)
        assert len(taken) == 0
        assert len(taken.answers) == 0
        assert taken.offsets.tolist() == [0]


def test_an_empty_list_of_places_is_no_query_too():
    taken = asked(toy.triples([(0, 0, 1)]), VOCABULARY).take([])
    assert len(taken) == 0
    assert taken.offsets.tolist() == [0]


def test_places_counted_from_the_end_mean_what_they_mean_in_numpy_or_are_refused():
    queries = asked(toy.triples([(0, 0, 2), (1, 0, 3)]), VOCABULARY)
    try:
        taken = queries.take([-2])
    except (IndexError, DataError):
        return
    assert answers_of(taken) == [answers_of(queries)[-2]]


def test_the_paper_s_none_are_the_incomplete_ones_without_answers():
    some = Queries.grouped(np.array([0, 1]), np.array([0, 0]), np.array([1, 0]))
    none = Queries.empty([2, 3], [0, 0], Subset.INCOMPLETE)
    fake = Queries.empty([3], [1], Subset.FAKE)
    queries = Queries.joined([some.marked([Subset.COMPLETE, Subset.INCOMPLETE]), none, fake])
    assert queries.is_none.tolist() == [False, False, True, True, False]
    assert queries.has_answers.tolist() == [True, True, False, False, False]
    assert queries.num_answers.tolist() == [1, 1, 0, 0, 0]


def test_marking_changes_the_subsets_only_and_of_a_copy_only():
    queries = asked(toy.triples([(0, 0, 1)]), VOCABULARY)
    marked = queries.marked([Subset.INCOMPLETE, Subset.COMPLETE])
    assert marked.subsets.tolist() == [Subset.INCOMPLETE, Subset.COMPLETE]
    assert queries.subsets.tolist() == [Subset.COMPLETE, Subset.COMPLETE]
    assert marked.answers.tolist() == queries.answers.tolist()


def test_no_facts_ask_nothing():
    queries = asked(toy.triples([]), VOCABULARY)
    assert len(queries) == 0
    assert queries.offsets.tolist() == [0]
    assert queries.facts(2).shape == (0, 3)
    assert len(Queries.joined([queries, queries])) == 0


def test_the_arrays_of_queries_refuse_changes():
    made = asked(toy.triples([(0, 0, 1)]), VOCABULARY)
    for queries in (made, made.take([0]), Queries.joined([made]), made.marked([0, 0])):
        for name in ("anchors", "relations", "offsets", "answers", "subsets"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(queries, name)[0] = 0


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(DataError, match="different lengths"):
        Queries(frozen([0, 1]), frozen([0]), frozen([0, 0], np.int64), frozen([]), frozen([0]))


def test_offsets_that_miss_answers_are_refused():
    with pytest.raises(DataError, match="offsets"):
        Queries(frozen([0]), frozen([0]), frozen([0, 1], np.int64), frozen([1, 2]), frozen([0]))


@given(toy.lists_of_facts(VOCABULARY), queries_of(VOCABULARY))
def test_answers_to_queries_are_looked_up_in_the_order_they_are_asked(facts, queries):
    known = asked(toy.triples(sorted(set(facts))), VOCABULARY)
    answers = {(anchor, relation): mine for anchor, relation, _, mine in answers_of(known)}
    offsets, found = known.answers_to(queries, VOCABULARY.num_entities)
    assert [found[start:end].tolist() for start, end in pairwise(offsets)] == [
        answers.get((anchor, relation), []) for anchor, relation, *_ in answers_of(queries)
    ]


def test_nothing_is_known_to_nobody():
    nothing = asked(toy.triples([]), VOCABULARY)
    some = asked(toy.triples([(0, 0, 1)]), VOCABULARY)
    assert [part.tolist() for part in nothing.answers_to(some, 4)] == [[0, 0, 0], []]
    assert [part.tolist() for part in some.answers_to(nothing, 4)] == [[0], []]
