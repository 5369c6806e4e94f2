"""What is wanted is checked, and of many facts the most probable stay."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.completing.completing import Rehearsed, Wanted, most_probable
from assent.completing.schema import Habits
from assent.core.arrays import frozen
from assent.errors import ConfigError
from completing.test_schema import ROWS, facts_of, pairs_of

SYMMETRIC = Habits(*(frozen(of, np.bool_) for of in ([False, False], [True], [False])))


@given(ROWS, st.integers(1, 6))
def test_the_most_probable_of_each_decision_stay(rows, most):
    found = pairs_of(most_probable(facts_of(rows), most))
    for decision in (True, False):
        mine = sorted(
            (probability for accepted, probability in rows.values() if accepted == decision)
        )
        kept = sorted(rows[pair][1] for pair in found if rows[pair][0] == decision)
        assert kept == mine[max(len(mine) - most, 0) :]


def test_a_pair_that_does_not_fit_in_whole_is_left_out():
    rows = {(0, 1): (True, 0.9), (1, 0): (True, 0.9), (2, 3): (True, 0.8), (3, 2): (True, 0.8)}
    assert pairs_of(most_probable(facts_of(rows), 3, SYMMETRIC)) == {(0, 1), (1, 0)}
    assert pairs_of(most_probable(facts_of(rows), 1, SYMMETRIC)) == set()


@pytest.mark.parametrize("wrong", [{"max_facts": 0}, {"review_above": 0.0}, {"review_above": 1.5}])
def test_what_cannot_be_wanted_is_refused(wrong):
    with pytest.raises(ConfigError, match="choose"):
        Wanted(**wrong)


def test_what_an_estimate_rests_on_is_one_plain_sentence():
    said = Rehearsed(0.7, 0.034).assumption
    assert "if missing facts are as easy to find as those held out" in said
    assert "about 0.034 facts are missing for each one held out" in said
