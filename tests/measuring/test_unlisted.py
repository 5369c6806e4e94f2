"""A scorer may leave candidates out, even right ones, even all of a query."""

import numpy as np

from assent.measuring.abstaining import average_precision

NONE = -np.inf


def test_queries_without_any_candidate_fall_together_in_average_precision():
    highest = np.array([1, NONE, NONE, NONE], np.float32)
    answered = np.array([True, True, False, False])
    assert average_precision(highest, answered) == (1 / 1 + 2 / 4) / 2
