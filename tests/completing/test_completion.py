"""The surest facts are kept, and looking begins where the probability begins to matter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from assent.completing.completion import surest
from assent.completing.habits import Habits
from assent.completing.lines import lowest
from assent.core.arrays import frozen
from completing.test_habits import ROWS, facts_of, pairs_of

SYMMETRIC = Habits(*(frozen(of, np.bool_) for of in ([False, False], [True], [False])))


@given(ROWS, st.integers(1, 6))
def test_the_most_probable_of_each_decision_stay(rows, most):
    found = pairs_of(surest(facts_of(rows), most))
    for decision in (True, False):
        mine = sorted((chance for accepted, chance in rows.values() if accepted == decision))
        kept = sorted(rows[pair][1] for pair in found if rows[pair][0] == decision)
        assert kept == mine[max(len(mine) - most, 0) :]


def test_a_pair_that_does_not_fit_in_whole_is_left_out():
    rows = {(0, 1): (True, 0.9), (1, 0): (True, 0.9), (2, 3): (True, 0.8), (3, 2): (True, 0.8)}
    assert pairs_of(surest(facts_of(rows), 3, SYMMETRIC)) == {(0, 1), (1, 0)}
    assert pairs_of(surest(facts_of(rows), 1, SYMMETRIC)) == set()


@pytest.mark.parametrize("bound", [0.1, 0.5, 0.9])
def test_looking_begins_just_below_the_first_score_that_counts(bound):
    shifts = np.array([-1.0, 0.0, 2.0])
    floors = lowest(lambda scores, slots: expit(scores + shifts[slots]), bound, 3)
    assert np.all(expit(floors + shifts) < bound)
    assert np.all(expit(floors + 1e-9 + shifts) >= bound)
    never = lowest(lambda scores, slots: np.full(len(slots), bound / 2), bound, 3)
    assert np.isposinf(never).all()
