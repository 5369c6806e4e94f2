"""Highest scores tell queries with an answer from those without: pair by pair, one by one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciding_oracles as oracles
from assent.core.scores import collect
from assent.core.thresholds import Thresholds
from assent.deciding.shortlisting import Above
from assent.measuring.abstaining import Tops, abstaining, auroc, average_precision
from score_blocks import ANY, NUM_SLOTS, block, blocks, one_by_one, queries_of

SIDES = st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0]), max_size=8)


def tops(made):
    collector = Tops(queries_of(made))
    collect(made, collector)
    return collector


def spoken(made, line):
    """Whether each query's best candidate is accepted, told from the accepted candidates."""
    thresholds = Thresholds.single(line, NUM_SLOTS)
    above = Above(queries_of(made), thresholds)
    collect(made, above)
    kept = above.result()
    return tops(made).accepted(kept, kept.accepted(thresholds))


def top(query):
    """The highest score; -inf where there is no candidate."""
    return max(query.scores.values(), default=-math.inf)


@given(blocks(ANY))
def test_the_best_candidate_of_each_query_is_the_first_of_the_highest(made):
    found, queries = tops(made), oracles.asked(made)
    assert found.scores.tolist() == [top(query) for query in queries]
    for entity, right, query in zip(found.entities, found.right, queries, strict=True):
        if query.scores:
            best = min(e for e, score in query.scores.items() if score == top(query))
            assert entity == best and right == (best in query.answers)


@given(blocks())
def test_best_candidates_do_not_depend_on_the_blocks(made):
    one, other = tops(made), tops(one_by_one(made))
    for name in ("entities", "scores", "right"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()


@given(SIDES, SIDES)
def test_areas_are_counted_pair_by_pair(positives, negatives):
    scores = np.array(positives + negatives, np.float32)
    positive = np.arange(len(scores)) < len(positives)
    found = auroc(scores, positive), average_precision(scores, positive)
    expected = (
        oracles.auroc(positives, negatives),
        oracles.average_precision(positives, negatives),
    )
    assert found == pytest.approx(expected, nan_ok=True)


@given(blocks(), st.sampled_from([-np.inf, -0.5, 1.0, np.inf]))
def test_abstaining_is_measured_against_n_against_f_and_against_both(made, line):
    queries = oracles.asked(made)
    found = abstaining(tops(made), spoken(made, line))
    answered = [top(query) for query in queries if query.answers]
    for name, letters in (("N", "N"), ("F", "F"), ("N+F", "NF")):
        empty = [top(query) for query in queries if query.letter in letters]
        measured = found.auroc[name], found.average_precision[name]
        expected = (oracles.auroc(answered, empty), oracles.average_precision(answered, empty))
        assert measured == pytest.approx(expected, nan_ok=True)


@given(blocks(), st.sampled_from([-np.inf, -0.5, 1.0, np.inf]))
def test_answers_are_given_where_the_best_candidate_is_accepted(made, line):
    found = abstaining(tops(made), spoken(made, line))
    queries = oracles.asked(made)
    answered = [query for query in queries if top(query) > line]
    right = [
        query
        for query in answered
        if min(e for e, score in query.scores.items() if score == top(query)) in query.answers
    ]
    assert found.answer_rate == len(answered) / len(queries)
    expected = oracles.ratio(len(right), len(answered))
    assert found.top_precision == pytest.approx(expected, nan_ok=True)


def test_a_query_without_candidates_is_never_answered():
    made = [block([[-np.inf, -np.inf], [1.0, -np.inf]], [[], [0]])]
    found = abstaining(tops(made), spoken(made, -np.inf))
    assert found.answer_rate == 0.5 and found.top_precision == 1


def test_queries_without_any_candidate_fall_together_in_average_precision():
    highest = np.array([1, -np.inf, -np.inf, -np.inf], np.float32)
    answered = np.array([True, True, False, False])
    assert average_precision(highest, answered) == (1 / 1 + 2 / 4) / 2
