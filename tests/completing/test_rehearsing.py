"""A rehearsal estimates what is right among new candidates, from held-out facts alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

import toy
from assent.completing.rehearsing import (
    FOLDS,
    Candidates,
    Known,
    folds_of,
    intercepts_of,
    lowest_threshold,
    lowest_thresholds,
    rehearsed,
    rehearsed_by_others,
)
from assent.core.arrays import frozen

SHARES = st.lists(st.sampled_from([0.01, 0.1, 0.4, 0.5, 0.7, 0.9, 1.0]), max_size=12)


@given(SHARES, st.sampled_from([0.05, 0.5, 0.7, 0.95]))
def test_the_threshold_accepts_the_most_whose_mean_is_high_enough(drawn, precision):
    probabilities = np.array(drawn, np.float64)
    best = []
    for lowest in sorted(set(drawn)):
        accepted = [p for p in drawn if p >= lowest]
        if np.mean(accepted) >= precision - 1e-12 and len(accepted) > len(best):
            best = accepted
    found = probabilities[probabilities > lowest_threshold(probabilities, precision)]
    # A mean that is the precision but for rounding may fall either way.
    if best and abs(np.mean(best) - precision) < 1e-9:
        return
    assert sorted(found.tolist()) == sorted(best)


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1)), max_size=30), st.floats(0.05, 0.95))
def test_thresholds_serve_each_relation_alone_and_all_together(drawn, precision):
    relations = np.array([relation for relation, _ in drawn], np.int64)
    probabilities = np.array([probability for _, probability in drawn], np.float64)
    found = lowest_thresholds(probabilities, relations, 5, precision)
    for relation in range(5):
        alone = lowest_threshold(probabilities[relations == relation], precision)
        assert found[relation] == max(alone, lowest_threshold(probabilities, precision))
    assert found[4] == np.inf


def test_intercepts_make_probabilities_add_up():
    rng = np.random.default_rng(0)
    slanted, groups = rng.normal(0, 3, 200), rng.integers(3, size=200)
    expected = np.array([5.0, 20.0, 0.0, 7.0])  # the last group has no candidates
    starts = intercepts_of(slanted, groups, expected)
    sums = np.bincount(groups, expit(starts[groups] + slanted), 4)
    assert sums[:2] == pytest.approx(expected[:2])
    assert sums[2] < 1e-6 and np.isfinite(starts).all()


def test_a_fact_and_its_reverse_are_in_one_fold():
    facts = toy.triples((head, 0, tail) for head in range(20) for tail in range(20))
    folds = folds_of(facts).reshape(20, 20)
    assert np.array_equal(folds, folds.T) and set(folds.ravel().tolist()) == set(range(FOLDS))


def graph(seed, missing, joined=0, size=12000):
    """Candidates of two relations, right by their true probability; which of them are right.

    A right one of the kind that is held out is so once for each `missing` that are not.
    """
    rng = np.random.default_rng(seed)
    relations = rng.integers(2, size=size + joined)
    other = np.arange(size + joined) >= size
    scores = rng.normal(-3, 2, size + joined)
    right = rng.random(size + joined) < expit(1.5 * scores - relations + 1 - 2 * other)
    held_out = right & ~other & (rng.random(size + joined) < 1 / (1 + missing))
    facts = np.stack([np.arange(size + joined), relations, np.arange(size + joined)], axis=1)
    candidates = Candidates(
        frozen(facts),
        frozen(scores, np.float64),
        frozen(np.zeros(size + joined), np.float64),
        frozen(held_out, np.bool_),
        frozen(other, np.bool_),
    )
    return candidates, right


def known_of(candidates, right, missing):
    """As many known facts of the other kind as `missing` and the rate of held-out ones imply."""
    count = np.bincount(candidates.relations[candidates.held_out], minlength=2)
    alone = 10 * count  # one in ten known facts was held out
    lost = np.bincount(candidates.relations[right & candidates.joined], minlength=2)
    rate = missing * count.sum() / alone.sum()
    return Known(alone, np.round(lost / rate).astype(np.int64))


def accepted_and_right(candidates, right, known, missing, precision=0.7):
    probabilities = rehearsed(candidates, known, missing).probability(candidates)
    new = ~candidates.held_out
    accepted = new & (probabilities > lowest_threshold(probabilities[new], precision))
    return int(accepted.sum()), int((accepted & right).sum()), probabilities[accepted]


@pytest.mark.parametrize("missing", [0.25, 1.0])
@pytest.mark.parametrize("joined", [0, 6000])
def test_whatever_is_missing_the_estimate_is_right_as_a_mean_of_draws(joined, missing):
    """Two relations say little about what they lack: single draws lie .12 off, and more."""
    shares = []
    for seed in range(8):
        candidates, right = graph(seed, missing, joined)
        known = known_of(candidates, right, missing)
        accepted, correct, probabilities = accepted_and_right(candidates, right, known, 4.0)
        shares.append(correct / accepted)
        assert accepted > 20 and probabilities.mean() == pytest.approx(0.7, abs=0.02)
    assert np.mean(shares) > 0.64 and min(shares) > 0.5


@pytest.mark.parametrize("seed", range(3))
def test_if_more_are_missing_than_may_be_the_estimate_is_a_bound_from_below(seed):
    candidates, right = graph(seed, missing=2.0)
    known = known_of(candidates, right, 1.0)
    accepted, correct, probabilities = accepted_and_right(candidates, right, known, 1.0)
    assert accepted > 50 and correct / accepted > probabilities.mean() > 0.69


@pytest.mark.parametrize("seed", range(4))
def test_if_nothing_is_missing_nothing_is_accepted(seed):
    candidates, right = graph(seed, missing=0.0)
    known = known_of(candidates, right, 1.0)
    assert rehearsed(candidates, known, 2.0).lacks(0.1).max() < 0.01
    assert accepted_and_right(candidates, right, known, 2.0)[0] == 0


def test_a_relation_that_lacks_nothing_gets_nothing_beside_one_that_lacks_much():
    whole, right = graph(5, missing=0.0)
    holey, other = graph(6, missing=1.0)
    of_first = whole.relations == 0
    candidates = Candidates.joined_up([whole.take(of_first), holey.take(holey.relations == 1)])
    truth = np.concatenate([right[of_first], other[holey.relations == 1]])
    known = known_of(candidates, truth, 1.0)
    found = rehearsed(candidates, known, 2.0)
    new, probabilities = ~candidates.held_out, found.probability(candidates)
    accepted = new & (probabilities > lowest_threshold(probabilities[new], 0.7))
    assert found.missing[0] < 0.1 and 0.6 < found.missing[1] < 1.5
    assert not (accepted & (candidates.relations == 0)).any()
    assert accepted.sum() > 50 and truth[accepted].mean() > 0.6


@pytest.mark.parametrize("seed", range(3))
def test_rules_that_tell_right_from_wrong_find_more_of_the_right_facts(seed):
    candidates, right = graph(seed, 1.0)
    known = known_of(candidates, right, 1.0)
    rng = np.random.default_rng(seed)
    spoken = rng.normal(np.where(right, 2.0, -2.0), 2.0)  # log-odds of 2 in both cases
    told = replace(candidates, rules=frozen(spoken, np.float64))
    _, without, _ = accepted_and_right(candidates, right, known, 1.0, 0.9)
    accepted, found, _ = accepted_and_right(told, right, known, 1.0, 0.9)
    assert found > 1.3 * without and found / accepted > 0.85


def test_a_relation_of_mostly_joined_facts_lacks_as_much_as_one_without_them():
    """Few of the missing facts come up among candidates of the kind that is held out."""
    rng, (candidates, _) = np.random.default_rng(3), graph(2, 0.0)
    odds = np.exp(1.5 * candidates.scores)
    shares = np.array([1.0, 0.2])
    missing = shares[candidates.relations]  # one for each held out, of both kinds together
    held_out = rng.random(len(candidates)) < odds / (1 + (1 + missing) * odds)
    candidates = replace(candidates, held_out=frozen(held_out, np.bool_))
    found = rehearsed(candidates, Known(np.array([5000, 1000]), np.array([0, 4000])), 2.0)
    assert found.missing == pytest.approx(1.0, rel=0.4)


def test_joined_candidates_are_not_taken_for_right_because_more_are_expected():
    candidates, right = graph(0, 1.0, joined=20)
    many = known_of(candidates, right, 1.0)._replace(joined=np.array([10**6, 10**6]))
    probabilities = rehearsed(candidates, many, 1.0).probability(candidates)
    faint = candidates.joined & (candidates.scores < -5)
    assert faint.any() and probabilities[faint].max() < 0.1


def test_without_held_out_facts_nothing_is_probable():
    candidates, _ = graph(0, 1.0)
    blind = replace(candidates, held_out=frozen(np.zeros(len(candidates)), np.bool_))
    found = rehearsed(blind, Known(np.array([5, 5]), np.array([0, 0])), 1.0)
    assert found.probability(blind).max() < 1e-9


def test_a_fact_has_no_part_in_the_probability_that_it_is_looked_for_with():
    candidates, _ = graph(1, 1.0, size=400)
    known, folds = Known(np.array([50, 50]), np.array([0, 0])), folds_of(candidates.facts)
    before = rehearsed_by_others(candidates, known, 1.0, folds)
    changed = candidates.held_out.copy()
    place = int(np.flatnonzero(changed)[0])
    changed[place] = False
    other = replace(candidates, held_out=changed)
    after = rehearsed_by_others(other, known, 1.0, folds)
    same = folds == folds[place]
    assert np.array_equal(before[same], after[same]) and not np.allclose(before, after)


@given(st.integers(0, 2**20), st.floats(0.05, 0.95))
def test_what_is_said_and_its_probability_lie_on_the_same_side_of_the_threshold(seed, threshold):
    candidates, _ = graph(seed, 1.0, joined=50, size=200)
    spoken = np.random.default_rng(seed).normal(0, 3, len(candidates))
    candidates = replace(candidates, rules=frozen(spoken, np.float64))
    found = rehearsed(candidates, Known(np.array([90, 90]), np.array([9, 9])), 1.0)
    probabilities = found.probability(candidates)
    at = found.said_at(threshold, candidates.relations, candidates.joined)
    clear = np.abs(probabilities - threshold) > 1e-9
    assert np.array_equal((found.said(candidates) > at)[clear], (probabilities > threshold)[clear])
    nothing = found.said_at(np.inf, candidates.relations, candidates.joined)
    assert np.isposinf(nothing).all()


def test_what_comes_up_where_nothing_was_rehearsed_is_not_probable():
    """A final model may propose candidates of a relation and kind that no rehearsal had."""
    starts = intercepts_of(np.array([0.5]), np.array([0]), np.array([0.25, 3.0]))
    assert expit(starts + 0.5)[0] == pytest.approx(0.25)
    assert expit(starts + 30)[1] < 1e-9
