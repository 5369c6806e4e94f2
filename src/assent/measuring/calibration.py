"""Do probabilities mean what they say? Over all candidates, at their real base rate."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, Mask, rows_of
from assent.core.counts import ratio
from assent.core.probabilities import Probabilities
from assent.core.scores import ScoreBlock
from assent.core.shortlist import Shortlist
from assent.geometry import threads

BINS = 20
CELLS = 1 << 18  # scores at a time: few enough for the processor to have them at hand

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Candidates of each relation by their probability, in bins of equal width."""

    candidates: Keys  # (slot, bin)
    right: Keys  # (slot, bin)
    stated: Floats  # (slot, bin)   probabilities, summed
    squares: Floats  # (slot,)       of the differences between probability and truth

    def reliability(self) -> tuple[Floats, Floats]:  # (bin,)
        """What was stated and what was true, on average; nan where a bin is empty."""
        all_of_them = self.candidates.sum(0)
        return ratio(self.stated.sum(0), all_of_them), ratio(self.right.sum(0), all_of_them)

    def error(self) -> float:
        """The expected calibration error: how far the two are apart, over all candidates."""
        gaps = np.abs(self.stated.sum(0) - self.right.sum(0)).sum()
        return float(ratio(gaps, self.candidates.sum()))

    def error_of_likely(self) -> float:
        """The same over the candidates above the lowest bin, where decisions are made."""
        gaps = np.abs(self.stated[:, 1:].sum(0) - self.right[:, 1:].sum(0)).sum()
        return float(ratio(gaps, self.candidates[:, 1:].sum()))

    def brier(self) -> float:
        """The mean square of the difference between a probability and the truth."""
        return float(ratio(self.squares.sum(), self.candidates.sum()))

    def means(self) -> tuple[float, float]:
        """What was stated and what was true, on average over all candidates."""
        size = self.candidates.sum()
        return float(ratio(self.stated.sum(), size)), float(ratio(self.right.sum(), size))

    def by_relation(self) -> tuple[Floats, Floats]:  # (slot,)
        """The expected calibration error and the Brier score of each relation."""
        size = self.candidates.sum(1)
        gaps = np.abs(self.stated - self.right).sum(1)
        return ratio(gaps, size), ratio(self.squares, size)


def stated(probabilities: Floats, right: Mask, slots: Ids, num_slots: int) -> Calibration:
    """Of candidates that are given one by one."""
    cells, size = slots.astype(np.int64) * BINS + _bin(probabilities), num_slots * BINS
    squares = (probabilities - right) ** 2
    return Calibration(
        np.bincount(cells, minlength=size).reshape(-1, BINS),
        np.bincount(cells[right], minlength=size).reshape(-1, BINS),
        np.bincount(cells, probabilities, size).astype(np.float64).reshape(-1, BINS),
        np.bincount(slots, squares, num_slots).astype(np.float64),
    )


def recalibrated(
    raw: Calibration, shortlist: Shortlist, probabilities: Probabilities
) -> Calibration:
    """The same candidates under other probabilities.

    The shortlist has those above the floors; of all others only the number matters, as they have
    one probability a slot.
    """
    size = len(raw.squares)
    likely = probabilities.of(shortlist.scores, shortlist.relations)
    listed = stated(likely, shortlist.right, shortlist.relations, size)
    rest = raw.candidates.sum(1) - listed.candidates.sum(1)
    missed, below = raw.right.sum(1) - listed.right.sum(1), probabilities.below
    cells = (np.arange(size), _bin(below))
    for column, more in (
        (listed.candidates, rest), (listed.right, missed), (listed.stated, rest * below)
    ):  # fmt: skip
        column[cells] += more
    squares = listed.squares + missed * (1 - below) ** 2 + (rest - missed) * below**2
    return Calibration(listed.candidates, listed.right, listed.stated, squares)


class Reliability:
    """Counts candidates by probability; a collector of scores."""

    def __init__(self, num_slots: int) -> None:
        shape = (num_slots, BINS)
        self._candidates, self._right = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self._stated, self._squares = np.zeros(shape), np.zeros(num_slots)

    def add(self, block: ScoreBlock) -> None:
        count, size = len(block.queries), max(1, CELLS // max(block.scores.shape[1], 1))

        def look(part: int, parts: int) -> list[_Looked]:
            first, stop = threads.share(count, part, parts)
            starts = range(first, stop, size)
            return [_look(block, slice(i, min(i + size, stop))) for i in starts]

        for found in threads.side_by_side(look):
            for looked in found:
                self._count(looked)
        self._count_right(block)

    def _count(self, looked: "_Looked") -> None:
        """Most candidates are far below: they are counted in one go, not one by one."""
        relations, size = looked.relations, len(self._squares)
        cells = relations[looked.rows] * BINS + _bin(looked.likely)
        stated = np.bincount(cells, looked.likely, size * BINS).reshape(size, BINS)
        stated = stated.astype(np.float64)  # of nothing, bincount makes whole numbers
        counted = np.bincount(cells, minlength=size * BINS).reshape(size, BINS)
        counted[:, 0] = np.bincount(relations, looked.candidates, size) - counted.sum(1)
        stated[:, 0] = np.bincount(relations, looked.stated, size) - stated.sum(1)
        self._candidates += counted
        self._stated += stated
        self._squares += np.bincount(relations, looked.squares, size)

    def _count_right(self, block: ScoreBlock) -> None:
        scores = block.of_answers()
        there = scores > -np.inf  # an answer may be no candidate: nothing was stated about it
        asked = block.queries.relations[rows_of(block.queries.offsets)[there]]
        mine = sigmoid(scores[there]).astype(np.float64)
        np.add.at(self._right, (asked, _bin(mine)), 1)
        np.add.at(self._squares, asked, 1 - 2 * mine)

    def result(self) -> Calibration:
        return Calibration(self._candidates, self._right, self._stated, self._squares)


class _Looked(NamedTuple):
    """A few rows of scores, as probabilities."""

    relations: Ids  # (query,)
    candidates: Keys  # (query,)
    stated: Floats  # (query,)    probabilities, summed
    squares: Floats  # (query,)   and their squares
    rows: Keys  # (likely,)       those above the lowest bin: where,
    likely: Floats  # (likely,)   and how likely


def _look(block: ScoreBlock, rows: slice) -> _Looked:
    scores = block.scores[rows]
    probabilities = sigmoid(scores)
    likely, entities = np.nonzero(probabilities >= np.float32(1 / BINS))
    return _Looked(
        block.queries.relations[rows],
        np.count_nonzero(scores > -np.inf, axis=1),
        probabilities.sum(axis=1).astype(np.float64),
        np.vecdot(probabilities, probabilities).astype(np.float64),
        likely,
        probabilities[likely, entities].astype(np.float64),
    )


def sigmoid(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # exp(89) is inf, and 1 / inf the right 0
        odds_against = np.exp(-scores)
    odds_against += 1
    return np.reciprocal(odds_against, out=odds_against)


def _bin(probabilities: Floats) -> Keys:
    bins: Keys = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    return bins
