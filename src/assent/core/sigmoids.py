"""A step of Newton's method towards the sigmoids that fit best, one for each group of candidates.

The sigmoid of a group is `sigmoid(start + slope * score)`. It is held to `0 + 1 * score` as by a
normal prior, so that a group with few candidates stays close to that.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys

FLATTEST = 0.05  # the lowest slope: a higher score is always more probable
LONGEST = 1.0  # the most that a step may move, so that it cannot overshoot

Values = NDArray[np.float64]


class Step(NamedTuple):
    """Where a step leads to."""

    starts: Values  # (group,)
    slopes: Values  # (group,)
    curved: Values  # (group,)  the determinant of the second derivatives, before the step
    moved: float  # the farthest that any number wanted to move


def step(
    starts: Values,
    slopes: Values,
    scores: Values,
    groups: Ids | Keys,
    gaps: Values,
    weights: Values,
    held: tuple[float, float],
) -> Step:
    """One step from these sigmoids (group,).

    Of what is made small, `gaps` (candidate,) are the derivatives by the logit of each candidate,
    and `weights` (candidate,) the second derivatives. `held` are the precisions of the prior:
    of the start, and of the slope.
    """
    size = len(starts)
    by_start = np.bincount(groups, gaps, size) + held[0] * starts
    by_slope = np.bincount(groups, gaps * scores, size) + held[1] * (slopes - 1)
    aa = np.bincount(groups, weights, size) + held[0]
    ab = np.bincount(groups, weights * scores, size)
    bb = np.bincount(groups, weights * scores * scores, size) + held[1]
    curved = aa * bb - ab * ab
    start = (bb * by_start - ab * by_slope) / curved
    slope = (aa * by_slope - ab * by_start) / curved
    longest = np.maximum(np.maximum(np.abs(start), np.abs(slope)) / LONGEST, 1.0)
    after = np.maximum(slopes - slope / longest, FLATTEST)
    moved = max(np.abs(start).max(initial=0), np.abs(after - slopes).max(initial=0))
    return Step(starts - start / longest, after, curved, float(moved))
