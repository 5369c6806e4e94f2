"""Whether probabilities are right: of candidates with .3, are 3 of 10 answers?

Measured over all candidates of the queries, nearly all of which are wrong.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, Mask, pair_keys, rows_of
from assent.core.benchmark import Benchmark
from assent.core.columns import Columns, sums_by_tile
from assent.core.counts import ratio
from assent.core.probabilities import Probabilities
from assent.core.scores import ScoreBlock
from assent.core.shortlist import Shortlist
from assent.geometry import scans, threads
from assent.measuring.measure import Decided

BINS = 20
CELLS = 1 << 18  # scores at a time: few enough for the cache of the processor
UNITS = 2.0**30  # in one: each sum of a tile is rounded to a whole number of so small parts
UNITS_HIGH = 2.0**28  # in one: probabilities above the lowest bin are whole numbers of these

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The candidates of each slot, counted by their probability in bins of equal width."""

    candidates: Keys  # (slot, bin)
    right: Keys  # (slot, bin)
    stated: Floats  # (slot, bin)   sum of their probabilities
    squares: Floats  # (slot,)      sum of (probability - right)^2, where right is 0 or 1

    def reliability(self) -> tuple[Floats, Floats]:  # (bin,)
        """The mean probability and the share that is right, by bin; nan where a bin is empty."""
        all_of_them = self.candidates.sum(0)
        return ratio(self.stated.sum(0), all_of_them), ratio(self.right.sum(0), all_of_them)

    def error(self) -> float:
        """The expected calibration error: how far probabilities are from what share is right."""
        gaps = np.abs(self.stated.sum(0) - self.right.sum(0)).sum()
        return float(ratio(gaps, self.candidates.sum()))

    def error_above_lowest_bin(self) -> float:
        """The expected calibration error over the candidates that decisions are mostly about.

        They are those above the lowest bin.
        """
        gaps = np.abs(self.stated[:, 1:].sum(0) - self.right[:, 1:].sum(0)).sum()
        return float(ratio(gaps, self.candidates[:, 1:].sum()))

    def brier(self) -> float:
        """The mean square of the difference between a probability and the truth."""
        return float(ratio(self.squares.sum(), self.candidates.sum()))

    def means(self) -> tuple[float, float]:
        """The mean probability and the share that is right, over all candidates."""
        size = self.candidates.sum()
        return float(ratio(self.stated.sum(), size)), float(ratio(self.right.sum(), size))

    def by_relation(self) -> tuple[Floats, Floats]:  # (slot,)
        """The expected calibration error and the Brier score of each slot."""
        size = self.candidates.sum(1)
        gaps = np.abs(self.stated - self.right).sum(1)
        return ratio(gaps, size), ratio(self.squares, size)


def stated(probabilities: Floats, right: Mask, slots: Ids, num_slots: int) -> Calibration:
    """The calibration of candidates whose probabilities are given one by one."""
    cells, size = pair_keys(slots, _bin(probabilities), BINS), num_slots * BINS
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
    """The calibration of the same candidates under other probabilities.

    The shortlist has the candidates above the floors of these probabilities. All others of a slot
    have one probability, so that only their number matters.
    """
    size = len(raw.squares)
    given = probabilities.of(shortlist.scores, shortlist.relations)
    listed = stated(given, shortlist.right, shortlist.relations, size)
    rest = raw.candidates.sum(1) - listed.candidates.sum(1)
    missed, below = raw.right.sum(1) - listed.right.sum(1), probabilities.below
    cells = (np.arange(size), _bin(below))
    for column, more in (
        (listed.candidates, rest), (listed.right, missed), (listed.stated, rest * below)
    ):  # fmt: skip
        column[cells] += more
    squares = listed.squares + missed * (1 - below) ** 2 + (rest - missed) * below**2
    return Calibration(listed.candidates, listed.right, listed.stated, squares)


class Calibrated(NamedTuple):
    """The calibration of all candidates, and that of the accepted ones."""

    candidates: Calibration
    accepted: Calibration

    def to_json(self) -> dict[str, Any]:
        stated, true = self.candidates.reliability()
        return {
            "expected_calibration_error": self.candidates.error(),
            "expected_calibration_error_above_lowest_bin": self.candidates.error_above_lowest_bin(),
            "brier_score": self.candidates.brier(),
            "reliability": {"stated": stated, "true": true},
            "accepted": {
                "expected_calibration_error": self.accepted.error(),
                **dict(zip(("stated", "true"), self.accepted.means(), strict=True)),
            },
        }


class Calibrations(NamedTuple):
    """The result of the measure."""

    as_scored: Calibrated  # by the sigmoids of the scores
    calibrated: Calibrated | None  # by the probabilities of the decider, if it has any

    def to_json(self) -> dict[str, Any]:
        return {
            "calibration": self.as_scored.to_json(),
            "calibrated": None if self.calibrated is None else self.calibrated.to_json(),
        }

    def lines(self) -> dict[str, float]:
        last = self.calibrated or self.as_scored
        return {
            "expected calibration error": last.candidates.error(),
            "Brier score": last.candidates.brier(),
        }


class Reliability:
    """The measure: counts all candidates by the sigmoid of their score."""

    def __init__(self, num_slots: int) -> None:
        self._columns = Columns(1)
        # Of the candidates of this process. Sums are whole numbers of small parts, which come to
        # the same in any order.
        self._candidates = np.zeros((num_slots, BINS), np.int64)
        self._high = np.zeros((num_slots, BINS), np.int64)  # stated, above the lowest bin
        self._stated, self._wrong = np.zeros((2, num_slots), np.int64)  # squares as if all wrong
        # Of the answers, wherever they are.
        self._right, self._gained = np.zeros((num_slots, BINS), np.int64), np.zeros(num_slots)

    @classmethod
    def of(cls, benchmark: Benchmark, split: str) -> Self:
        return cls(benchmark.vocabulary.num_slots)

    def add(self, block: ScoreBlock) -> None:
        count, size = len(block.queries), max(1, CELLS // max(block.scores.shape[1], 1))

        def look(part: int, parts: int) -> list[_Looked]:
            first, stop = threads.share(count, part, parts)
            starts = range(first, stop, size)
            return [_look(block, slice(i, min(i + size, stop))) for i in starts]

        self._columns = block.columns

        for found in threads.side_by_side(look):
            for looked in found:
                self._count(looked)
        self._count_right(block)

    def _count(self, looked: "_Looked") -> None:
        """Adds a few rows; what is not above the lowest bin is in it."""
        relations, size = looked.relations, len(self._gained)
        cells = pair_keys(relations[looked.rows], _bin(looked.probabilities), BINS)
        stated = np.bincount(cells, looked.probabilities * UNITS_HIGH, size * BINS)
        counted = np.bincount(cells, minlength=size * BINS).reshape(size, BINS)
        counted[:, 0] = np.bincount(relations, looked.candidates, size) - counted.sum(1)
        self._candidates += counted
        self._high += stated.astype(np.int64).reshape(size, BINS)
        self._stated += np.bincount(relations, looked.stated, size).astype(np.int64)
        self._wrong += np.bincount(relations, looked.squares, size).astype(np.int64)

    def _count_right(self, block: ScoreBlock) -> None:
        scores = block.of_answers()
        there = scores > -np.inf  # an answer may be no candidate: then it has no probability
        asked = block.queries.relations[rows_of(block.queries.offsets)[there]]
        mine = sigmoid(scores[there]).astype(np.float64)
        np.add.at(self._right, (asked, _bin(mine)), 1)
        np.add.at(self._gained, asked, 1 - 2 * mine)

    def counted(self) -> Calibration:
        """The calibration of the sigmoids of all scores so far, of all processes."""
        mine = np.stack([self._stated, self._wrong])
        candidates, high = self._columns.added(np.stack([self._candidates, self._high]))
        everything, wrong = self._columns.added(mine) / UNITS
        stated = high / UNITS_HIGH
        stated[:, 0] = everything - stated.sum(1)
        return Calibration(candidates, self._right, stated, wrong + self._gained)

    def result(self, decided: Decided) -> Calibrations:
        raw, size = self.counted(), len(self._gained)
        found, chosen = decided.shortlist, decided.accepted
        scores, slots, right = found.scores[chosen], found.relations[chosen], found.right[chosen]
        as_scored = Calibrated(raw, stated(sigmoid(scores).astype(np.float64), right, slots, size))
        if decided.probabilities is None or decided.probable is None:
            return Calibrations(as_scored, None)
        mine = decided.probabilities
        everything = recalibrated(raw, decided.probable, mine)
        accepted = stated(mine.of(scores, slots), right, slots, size)
        return Calibrations(as_scored, Calibrated(everything, accepted))


class _Looked(NamedTuple):
    """A few rows of scores, as probabilities."""

    relations: Ids  # (query,)
    candidates: Keys  # (query,)
    stated: Floats  # (query,)         sum of the probabilities, a whole number of UNITS
    squares: Floats  # (query,)        sum of their squares, the same
    rows: Keys  # (high,)              candidates above the lowest bin: their rows,
    probabilities: Floats  # (high,)   and their probabilities


def _look(block: ScoreBlock, rows: slice) -> _Looked:
    scores, width = block.scores[rows], block.columns.width
    count, size = scores.shape[1], max(1, CELLS // width) * width  # whole tiles
    candidates = np.empty(len(scores), np.int64)
    scans.count_candidates(scores, 0, len(scores), candidates)
    stated, squares = np.zeros((2, len(scores)))
    found: list[tuple[Keys, Floats]] = []
    for first in range(0, max(count, 1), size):
        probabilities = sigmoid(scores[:, first : first + size])
        high, places = np.nonzero(probabilities >= np.float32(1 / BINS))
        found.append((high, probabilities[high, places].astype(np.float64)))
        stated += _in_units(sums_by_tile(probabilities, width))
        squares += _in_units(sums_by_tile(probabilities, width, probabilities))
    high, above = map(np.concatenate, zip(*found, strict=True))
    return _Looked(block.queries.relations[rows], candidates, stated, squares, high, above)


def _in_units(sums: Floats) -> Floats:  # (query,)
    in_units: Floats = np.rint(sums * UNITS).sum(axis=1)
    return in_units


def sigmoid(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """In float32, for whole matrices of scores."""
    with np.errstate(over="ignore"):  # exp(89) is inf, and 1 / inf the right 0
        odds_against = np.exp(-scores)
    odds_against += 1
    return np.reciprocal(odds_against, out=odds_against)


def _bin(probabilities: Floats) -> Keys:
    bins: Keys = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    return bins
