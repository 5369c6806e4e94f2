"""Probabilities of scores: a sigmoid above the floor, one number below it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.core.probabilities import Probabilities
from assent.errors import DataError

ONE = {"intercepts": [0.5], "slopes": [2.0], "floors": [-1.0], "below": [0.01]}


def test_above_the_floor_a_sigmoid_and_from_there_down_one_number():
    found = Probabilities.made(**ONE).of([0.0, -0.9, -1.0, -np.inf], [0, 0, 0, 0])
    assert found == pytest.approx([1 / (1 + np.exp(-0.5)), 1 / (1 + np.exp(1.3)), 0.01, 0.01])


def test_each_relation_has_its_own():
    two = Probabilities.made([0.0, 1.0], [1.0, 0.0], [-np.inf, -np.inf], [0.0, 0.0])
    assert two.of([0.0, 5.0], [0, 1]) == pytest.approx([0.5, 1 / (1 + np.exp(-1))])


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1))
def test_any_score_has_a_probability_and_a_higher_one_no_lower(scores):
    found = Probabilities.made([0.0], [1.0], [-np.inf], [0.0]).of(
        np.sort(scores), [0] * len(scores)
    )
    assert ((found >= 0) & (found <= 1)).all() and (np.diff(found) >= 0).all()


def test_of_nothing_there_is_nothing_to_say():
    assert Probabilities.made(**ONE).of([], np.empty(0, np.int32)).shape == (0,)


@pytest.mark.parametrize(
    ("part", "values"),
    [("slopes", [-1.0]), ("slopes", [np.nan]), ("intercepts", [np.inf]), ("floors", [np.nan]),
     ("below", [1.5]), ("below", [np.nan]), ("below", [0.1, 0.1])],
)  # fmt: skip
def test_what_is_no_probability_is_refused(part, values):
    with pytest.raises(DataError, match="probabilities"):
        Probabilities.made(**{**ONE, part: values})
