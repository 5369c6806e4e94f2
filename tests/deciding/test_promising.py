"""A promised precision is kept as often as it says, and found as a slow loop finds it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciding_oracles as oracles
import toy
from assent.core.counts import precision
from assent.deciding.promising import Promise, binomial_tail, effective, most_kept, promised, tried
from assent.errors import ConfigError
from score_blocks import ANY, FEW, NUM_SLOTS, block, blocks, shortlist

DRAWS = 1000
LIMIT = 0.05 + 3 * math.sqrt(0.05 * 0.95 / DRAWS)  # what luck leaves of one in twenty
PROMISES = [Promise(0.25, 0.5), Promise(0.5, 0.5), Promise(0.5, 0.8), Promise(0.8, 0.6)]


@given(
    blocks(st.one_of(FEW, ANY), most_queries=24, most_slots=2),
    st.sampled_from(PROMISES),
)
def test_thresholds_accept_what_a_slow_loop_accepts(made, promise):
    queries, kept = oracles.asked(made), shortlist(made)
    found = promised(kept, promise)
    expected = oracles.promised(queries, NUM_SLOTS, promise.precision, promise.failure)
    accepted = kept.accepted(found.thresholds)
    for slot in range(NUM_SLOTS):
        mine = accepted & (kept.relations == slot)
        pairs = zip(kept.rows[mine].tolist(), kept.entities[mine].tolist(), strict=True)
        assert set(pairs) == expected[slot]
        assert found.counts.accepted[slot] == len(expected[slot])


@given(st.integers(0, 30), st.integers(0, 30), st.sampled_from([0.1, 0.5, 0.9]))
def test_the_tail_of_whole_numbers_is_the_sum_of_binomial_terms(correct, more, share):
    count = correct + more
    expected = oracles.binomial_tail(correct, count, share)
    assert binomial_tail(correct, count, share) == pytest.approx(expected)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=80))
def test_what_is_tried_depends_on_scores_alone_and_leaves_ties_together(scores):
    falling = np.sort(np.array(scores, np.float64))[::-1]
    worth = np.arange(1.0, len(falling) + 1)
    counts = tried(falling, worth, Promise(0.5, 0.5))
    assert all(n == len(falling) or falling[n - 1] > falling[n] for n in counts)
    assert not len(counts) or counts[0] >= Promise(0.5, 0.5).fewest


def draw(rng, share, queries, each):
    """Up to `each` candidates of so many queries, all of a query right or all wrong."""
    sizes = rng.integers(1, each + 1, queries)
    right = np.repeat(rng.random(queries) < share, sizes)
    return np.arange(len(right), 0.0, -1), right, np.repeat(np.arange(queries), sizes)


def failures(promise, accepts, each):
    """How often something is promised where the precision is a hair too low."""
    rng = np.random.default_rng(0)
    made = (draw(rng, promise.precision - 1e-9, 300, each) for _ in range(DRAWS))
    return sum(accepts(*drawn, promise) > 0 for drawn in made) / DRAWS


def at_every_look(scores, right, rows, promise):
    """The exact binomial test, as if each number of candidates were the only one tried."""
    counts = tried(scores, effective(rows), promise)
    tails = binomial_tail(np.cumsum(right)[counts - 1], counts, promise.precision)
    return max(counts[tails <= promise.failure], default=0)


def as_if_independent(scores, right, rows, promise):
    return most_kept(scores, right, np.arange(len(rows)), promise)


def test_promises_fail_no_more_often_than_they_may():
    promise = Promise(0.9, 0.95)
    assert 0.005 < failures(promise, most_kept, each=1) < LIMIT
    assert failures(promise, at_every_look, each=1) > LIMIT


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_promises_are_kept_where_candidates_of_a_query_are_right_or_wrong_together(share):
    promise = Promise(share, 0.95)
    assert failures(promise, most_kept, each=10) < LIMIT
    assert failures(promise, as_if_independent, each=10) > LIMIT


def test_the_fewest_candidates_prove_it_only_if_all_are_right():
    promise = Promise(0.9, 0.95)
    scores, rows = np.arange(promise.fewest, 0.0, -1), np.arange(promise.fewest)
    right = np.ones(promise.fewest, bool)
    assert most_kept(scores, right, rows, promise) == promise.fewest == 40
    assert most_kept(scores[1:], right[1:], rows[1:], promise) == 0
    right[-1] = False
    assert most_kept(scores, right, rows, promise) == 0


def one_answer_each(relations, right):
    """A query of each of these relations, with one candidate that is right or not."""
    answers = [[0] if correct else [] for correct in right]
    return [block(np.ones((len(right), 1)), answers, relations)]


def test_sparse_relations_promise_together_and_a_dense_one_by_itself():
    promise = Promise(0.5, 0.95)  # 7 right ones prove it
    relations = [0] * 10 + [1] * 4 + [2] * 4 + [3] * 8
    found = promised(shortlist(one_answer_each(relations, [True] * 18 + [False] * 8)), promise)
    assert np.isfinite(found.thresholds.values).tolist() == [True] * 3 + [False] * 3
    assert found.pooled.tolist() == [False, True, True, False, False, False]
    assert precision(found.counts.total()) == 1
    report = found.found(toy.vocabulary_of(2, 3))
    assert (report["alone"], report["pooled"], report["cannot"], report["unasked"]) == (1, 2, 1, 2)
    assert report["cannot_promise"] == {"tail": [], "head": ["r0"]}
    expected = found.expected_precision()
    assert np.array_equal(expected, [1.0] * 3 + [np.nan] * 3, equal_nan=True)


def test_a_pool_states_the_precision_of_all_its_facts():
    relations = [1] * 6 + [2] * 6
    right = [True] * 6 + [True] * 5 + [False]
    found = promised(shortlist(one_answer_each(relations, right)), Promise(0.5, 0.95))
    expected = found.expected_precision()
    assert np.isnan(expected[0]) and expected[1:3].tolist() == pytest.approx([11 / 12] * 2)


@pytest.mark.parametrize(
    ("share", "confidence", "complaint"),
    [(1.0, 0.95, "precision 1.0; choose from 0.05"), (0.01, 0.95, "precision 0.01"),
     (0.9, 1.0, "confidence 1.0; choose from 0.5"), (0.9, 0.3, "confidence 0.3"),
     (math.nan, 0.9, "precision nan"), (0.9, math.nan, "confidence nan")],
)  # fmt: skip
def test_a_promise_that_nobody_can_make_is_refused(share, confidence, complaint):
    with pytest.raises(ConfigError, match=complaint):
        Promise(share, confidence)
