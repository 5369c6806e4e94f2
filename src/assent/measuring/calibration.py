"""Do probabilities mean what they say? Over all candidates, at their real base rate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Keys, rows_of
from assent.core.counts import ratio
from assent.core.scores import ScoreBlock

BINS = 20

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

    def by_relation(self) -> tuple[Floats, Floats]:  # (slot,)
        """The expected calibration error and the Brier score of each relation."""
        size = self.candidates.sum(1)
        gaps = np.abs(self.stated - self.right).sum(1)
        return ratio(gaps, size), ratio(self.squares, size)


class Reliability:
    """Counts candidates by probability; a collector of scores."""

    def __init__(self, num_slots: int) -> None:
        shape = (num_slots, BINS)
        self._candidates, self._right = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self._stated, self._squares = np.zeros(shape), np.zeros(num_slots)

    def add(self, block: ScoreBlock) -> None:
        relations = block.queries.relations
        size = len(self._squares)
        probabilities = _sigmoid(block.scores)
        # Most candidates are far below: they are counted in one go, not one by one.
        rows, entities = np.nonzero(probabilities >= 1 / BINS)
        likely = probabilities[rows, entities].astype(np.float64)
        cells = relations[rows] * BINS + _bin(likely)
        stated = np.bincount(cells, likely, size * BINS).reshape(size, BINS)
        counted = np.bincount(cells, minlength=size * BINS).reshape(size, BINS)
        there = np.count_nonzero(block.scores > -np.inf, axis=1)
        summed = probabilities.sum(axis=1, dtype=np.float64)
        counted[:, 0] = np.bincount(relations, there, size) - counted.sum(1)
        stated[:, 0] = np.bincount(relations, summed, size) - stated.sum(1)
        self._candidates += counted
        self._stated += stated
        self._add_right(block, probabilities)

    def _add_right(self, block: ScoreBlock, probabilities: NDArray[np.float32]) -> None:
        relations, size = block.queries.relations, len(self._squares)
        rows = rows_of(block.queries.offsets)
        mine = probabilities[rows, block.queries.answers].astype(np.float64)
        asked = relations[rows]
        right = np.bincount(asked * BINS + _bin(mine), minlength=size * BINS)
        self._right += right.reshape(size, BINS)
        squared = np.einsum("ij,ij->i", probabilities, probabilities, dtype=np.float64)
        self._squares += np.bincount(relations, squared, size)
        self._squares += np.bincount(asked, 1 - 2 * mine, size)

    def result(self) -> Calibration:
        return Calibration(self._candidates, self._right, self._stated, self._squares)


def _sigmoid(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # exp(88) is inf, and 1 / inf the right 0
        odds_against = np.exp(-scores)
    odds_against += 1
    return np.reciprocal(odds_against, out=odds_against)


def _bin(probabilities: Floats) -> Keys:
    bins: Keys = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    return bins
