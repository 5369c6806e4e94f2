"""Scores on valid -> probabilities that mean what they say (Platt, 1999), relation by relation.

One sigmoid is fitted for all relations, and then shifted and stretched for each of them. How far a
relation may move is a matter of its data: it is held back as by a normal prior around the sigmoid
for all, so that one with few answers stays there. Isotonic regression, lent points of all
relations, was no better calibrated and less sharp (docs/promise.md).

The shortlist has every candidate above the floors, so nothing has to be reweighted; of those below
only the number is known, and how many of them are right.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Keys, Mask
from assent.core.counts import ratio
from assent.core.probabilities import Probabilities, near, sigmoid
from assent.core.scores import ScoreBlock
from assent.core.shortlist import Shortlist
from assent.core.sigmoids import step
from assent.geometry import scans, threads

SHIFT, STRETCH = 1.0, 10.0  # precisions of the prior that holds back a slot's own sigmoid
HARDLY = 0.01  # the same for the sigmoid of all slots, around the plain one
TURNS = 100  # of Newton's method, at most; some 20 are enough
CLOSE = 1e-9  # a turn that moves less than this is the last

Values = NDArray[np.float64]


class Tally:
    """How many candidates each relation has, whatever they score; a collector of scores."""

    def __init__(self, num_slots: int) -> None:
        self.candidates = np.zeros(num_slots, np.int64)  # (slot,)
        self.right = np.zeros(num_slots, np.int64)  # (slot,)  answers that are candidates

    def add(self, block: ScoreBlock) -> None:
        relations, size = block.queries.relations, len(self.candidates)
        there = np.empty(len(relations), np.int64)  # (query,)

        def count(part: int, parts: int) -> None:
            rows = threads.share(len(there), part, parts)
            scans.count_candidates(block.scores, *rows, there)

        threads.side_by_side(count)
        mine = np.bincount(relations, there, size).astype(np.int64)
        self.candidates += block.columns.added(mine)
        asked = np.repeat(relations, block.queries.num_answers)
        self.right += np.bincount(asked[block.of_answers() > -np.inf], minlength=size)


class _Sigmoids(NamedTuple):
    intercepts: Values  # (group,)
    slopes: Values  # (group,)


def calibrated(shortlist: Shortlist, tally: Tally) -> Probabilities:
    """The probability of every candidate; relations that valid lacks get the sigmoid for all."""
    scores, slots = near(shortlist.scores.astype(np.float64)), shortlist.relations
    size = len(shortlist.floors)
    for_all = _fitted(scores, np.zeros_like(slots), shortlist.right, 1, HARDLY, HARDLY)
    (start,), (slope,) = for_all
    mine = _fitted(start + slope * scores, slots, shortlist.right, size, SHIFT, STRETCH)
    intercepts, slopes = mine.intercepts + mine.slopes * start, mine.slopes * slope
    asked = np.bincount(shortlist.queries.relations, minlength=size) > 0
    floors = shortlist.floors.astype(np.float64)
    floors[~asked] = floors[asked].max(initial=-np.inf)
    below = _below(shortlist, tally, asked)
    with np.errstate(invalid="ignore"):  # no floor: nothing is below it
        lowest = Probabilities.made(intercepts, slopes, np.full(size, -np.inf), below).of(
            np.nan_to_num(floors), np.arange(size)
        )
    return Probabilities.made(intercepts, slopes, floors, np.minimum(below, lowest))


def _below(shortlist: Shortlist, tally: Tally, asked: Mask) -> Values:  # (slot,)
    """The share of right ones among the candidates that were only counted."""
    size = len(asked)
    kept = np.bincount(shortlist.relations, minlength=size)
    right = np.bincount(shortlist.relations[shortlist.right], minlength=size)
    missed, passed = tally.right - right, tally.candidates - kept
    for_all = float(np.nan_to_num(ratio(missed.sum(), passed.sum())))
    # As if all relations together had lent one more answer to each.
    lent = ratio(missed + 1.0, passed + 1 / for_all) if for_all else np.zeros(size)
    return np.where(asked, lent, for_all)


def _fitted(
    scores: Values, groups: Keys | NDArray[np.int32], right: Mask, size: int, shift: float,
    stretch: float,
) -> _Sigmoids:  # fmt: skip
    """The sigmoid of each group that fits best, drawn to `sigmoid(score)`; by Newton's method."""
    a, b = np.zeros(size), np.ones(size)
    for _ in range(TURNS):
        probable = sigmoid(a[groups] + b[groups] * scores)
        gap, weight = probable - right, probable * (1 - probable)
        a, b, _, moved = step(a, b, scores, groups, gap, weight, (shift, stretch))
        if moved < CLOSE:
            break
    return _Sigmoids(a, b)
