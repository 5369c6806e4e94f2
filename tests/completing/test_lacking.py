"""What each relation lacks is told by the share of its surest candidates that was held out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

import completing_oracles as oracles
from assent.completing import lacking as module
from assent.completing.lacking import (
    HELD,
    NUMBERS,
    lacking,
    numbers_up_to,
    posterior,
    sigmoids_of,
)
from assent.core.sigmoids import FLATTEST


def drawn(missing, each, seed=0, start=-4.0, slope=1.5):
    """Candidates of relations that lack so much (relation,), and how they were drawn."""
    rng = np.random.default_rng(seed)
    relations = np.repeat(np.arange(len(missing)), each)
    scores = rng.normal(0, 2, len(relations))
    odds = np.exp(start + slope * scores)  # of held out to wrong
    lacks = np.asarray(missing)[relations]
    held_out = rng.random(len(relations)) < odds / (1 + (1 + lacks) * odds)
    return scores, relations, held_out


def test_numbers_begin_with_nothing_and_end_with_the_most():
    numbers = numbers_up_to(2.0)
    assert len(numbers) == NUMBERS and numbers[0] == 0 and numbers[-1] == 2
    assert numbers[2:] / numbers[1:-1] == pytest.approx(np.sqrt(2))


@given(st.integers(0, 2**20), st.sampled_from([0.0, 0.3, 1.0, 3.0]), st.integers(1, 3))
def test_sigmoids_are_the_likeliest_ones(seed, missing, size):
    scores, groups, held_out = drawn([missing] * size, 60, seed)

    def cost(flat):
        a, b = flat[:size], flat[size:]
        return sum(
            oracles.cost_of_sigmoid(
                scores[groups == g], held_out[groups == g], missing, a[g], b[g], HELD
            )
            for g in range(size)
        )

    found = sigmoids_of(scores, groups, held_out, size, missing, HELD)
    bounds = [(-40, 40)] * size + [(FLATTEST, 40)] * size
    slow = minimize(cost, np.r_[np.zeros(size), np.ones(size)], bounds=bounds)
    assert cost(np.r_[found.starts, found.slopes]) <= slow.fun + 1e-4


@given(st.integers(0, 2**20), st.sampled_from([0.0, 0.5, 2.0]))
def test_how_they_fit_is_close_to_the_integral_over_all_sigmoids(seed, missing):
    scores, groups, held_out = drawn([missing], 300, seed)
    found = sigmoids_of(scores, groups, held_out, 1, missing, HELD)
    slow = oracles.integral_over_sigmoids(scores, held_out, missing, HELD)
    assert found.fits[0] == pytest.approx(slow, abs=0.35)


@given(st.integers(0, 2**20), st.integers(1, 6))
def test_the_prior_is_that_of_slow_loops(seed, size):
    fits = np.random.default_rng(seed).normal(0, 3, (4, size))
    assert posterior(fits, numbers_up_to(2.0)[:4]) == pytest.approx(
        oracles.empirical_bayes(fits), abs=1e-3
    )


@pytest.mark.parametrize("seed", range(3))
def test_what_is_missing_is_found_again(seed):
    missing = [0.0, 0.0, 0.5, 1.0, 2.0, 0.0, 1.0, 0.5]
    scores, relations, held_out = drawn(missing, 6000, seed)
    found = lacking(scores, relations, held_out, np.ones(len(missing)), 4.0)
    assert found.probabilities.sum(axis=0) == pytest.approx(1)
    assert found.means[[0, 1, 5]].max() < 0.1
    assert found.means == pytest.approx(missing, rel=0.45, abs=0.1)


def test_a_relation_without_held_out_facts_lacks_what_the_others_do():
    scores, relations, held_out = drawn([0.5] * 8, 3000)
    held_out[relations == 7] = False
    scores[relations == 7] = -3.0
    assert 0.2 < lacking(scores, relations, held_out, np.ones(8), 2.0).means[7] < 0.9
    nobody = lacking(
        scores, relations, held_out, np.ones(9), 2.0
    )  # the last one has no candidates at all
    assert np.isfinite(nobody.means).all()


def test_of_what_a_relation_lacks_a_share_may_come_up():
    shares = np.array([1.0, 0.25, 1.0, 0.25])
    scores, relations, held_out = drawn(1.0 * shares, 6000)
    found = lacking(scores, relations, held_out, shares, 2.0)
    assert found.means == pytest.approx(1.0, rel=0.3)


@pytest.mark.parametrize("most", [0.5, 1.0])
def test_no_relation_lacks_more_than_it_may(most):
    scores, relations, held_out = drawn([3.0, 3.0], 4000)
    means = lacking(scores, relations, held_out, np.ones(2), most).means
    assert (means <= most).all() and means == pytest.approx(most, rel=0.1)


def test_with_nothing_to_learn_from_all_is_finite():
    nothing = np.empty(0)
    found = lacking(nothing, np.empty(0, np.int32), np.empty(0, bool), np.ones(3), 2.0)
    assert np.isfinite(found.means).all() and found.means.shape == (3,)


def test_a_new_candidate_is_right_as_often_as_its_sigmoid_says():
    missing = 1.0
    rng = np.random.default_rng(3)
    scores = rng.normal(0, 2, 60000)
    odds = np.exp(-4 + 1.5 * scores)
    draw = rng.random(len(scores)) * (1 + (1 + missing) * odds)
    held_out, right = draw < odds, draw < (1 + missing) * odds
    groups = np.zeros(len(scores), np.int32)
    a, b, _ = sigmoids_of(scores, groups, held_out, 1, missing, module.HARDLY)
    said = expit(a[0] + b[0] * scores + np.log(missing))
    for low, high in ((0.1, 0.3), (0.4, 0.6), (0.8, 1.0)):
        some = ~held_out & (said > low) & (said < high)
        assert right[some].mean() == pytest.approx(said[some].mean(), abs=0.05)
