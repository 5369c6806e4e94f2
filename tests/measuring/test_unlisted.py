"""A scorer may leave candidates out, even right ones, even all of a query."""

import numpy as np
import pytest

from assent.measuring.abstaining import average_precision
from assent.measuring.calibration import Reliability
from score_blocks import block

NONE = -np.inf


def test_queries_without_any_candidate_fall_together_in_average_precision():
    highest = np.array([1, NONE, NONE, NONE], np.float32)
    answered = np.array([True, True, False, False])
    assert average_precision(highest, answered) == (1 / 1 + 2 / 4) / 2


def test_calibration_is_about_candidates_only():
    reliability = Reliability(2)
    reliability.add(block([[0, NONE, NONE], [0, NONE, 0]], [[1], [0, 1]]))
    found = reliability.counted()
    assert found.candidates.sum() == 3 and found.right.sum() == 1
    assert found.brier() == pytest.approx(0.5**2)
    assert found.error() == pytest.approx(abs(3 * 0.5 - 1) / 3)
