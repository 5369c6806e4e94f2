"""The only comparison of a score with a threshold."""

import numpy as np
import pytest

from assent.core.thresholds import Thresholds
from assent.errors import DataError


def test_a_score_is_accepted_only_if_it_is_strictly_higher():
    thresholds = Thresholds.of([1.0, -2.0])
    scores = np.array([1.0, 1.5, -2.0, -1.0], np.float32)
    assert thresholds.accept(scores, [0, 0, 1, 1]).tolist() == [False, True, False, True]


def test_a_threshold_between_two_neighbouring_float32_numbers_stays_between_them():
    lower = np.float32(0.1)
    higher = np.nextafter(lower, np.float32(1))
    middle = (float(lower) + float(higher)) / 2
    found = Thresholds.single(middle, 1).accept(np.array([lower, higher]), [0, 0])
    assert found.tolist() == [False, True]


def test_the_infinite_ones_accept_nothing_and_every_candidate():
    scores = np.array([-np.inf, -3e38, 3e38], np.float32)
    assert not Thresholds.single(np.inf, 1).accept(scores, [0, 0, 0]).any()
    assert Thresholds.single(-np.inf, 1).accept(scores, [0, 0, 0]).tolist() == [False, True, True]


def test_what_is_not_a_number_is_refused():
    with pytest.raises(DataError, match="not a number"):
        Thresholds.of([0.0, np.nan])


def test_thresholds_refuse_changes():
    with pytest.raises(ValueError, match="read-only"):
        Thresholds.single(0.5, 2).values[0] = 1
