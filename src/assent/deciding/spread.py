"""How the scores of a query are spread over all entities, not only the shortlisted ones."""

import numpy as np

from assent.core.arrays import Keys, frozen
from assent.core.columns import sums_by_tile
from assent.core.queries import Queries
from assent.core.scores import ScoreBlock, Scores
from assent.core.shortlist import Spread, Values

CELLS = 1 << 18  # scores looked at together: a few passes over what the processor has at hand
UNITS = 2.0**34  # in one: each sum of a tile is rounded to a whole number of so small parts
FAINT = np.float32(-80)  # exp(80) is nearly the largest float32


class Spreading:
    """Computes the four numbers of a `Spread` for each query; a collector of scores."""

    def __init__(self, queries: Queries) -> None:
        self.best = np.full(len(queries), -np.inf)
        self.total = np.full(len(queries), -np.inf)
        self.expected = np.zeros(len(queries))
        self.effective = np.zeros(len(queries))

    def add(self, block: ScoreBlock) -> None:
        columns, count = block.columns, len(block.scores)
        best = columns.highest(block.scores.max(axis=1))
        sums = np.zeros((3, count), np.int64)
        size = max(1, CELLS // block.scores.shape[1])
        for first in range(0, count, size):
            some = slice(first, first + size)
            sums[:, some] = _sums(block.scores[some], best[some], columns.width)
        total, squares, expected = columns.added(sums) / UNITS
        there = np.isfinite(best)  # a query may be without candidates
        rows = block.first + np.flatnonzero(there)
        best, total = best[there].astype(np.float64), total[there]
        self.best[rows] = best
        self.total[rows] = best + np.log(total)
        self.effective[rows] = total**2 / squares[there]
        # Scores so low that sigmoid(score) is exp(score), which float32 would lose.
        faint = total * np.exp(best)
        self.expected[rows] = np.where(best < FAINT, faint, expected[there] * _highest(best))

    def result(self) -> Spread:
        columns = (self.best, self.total, self.expected, self.effective)
        return Spread(*(frozen(column, np.float64) for column in columns))


def _sums(scores: Scores, best: Scores, width: int) -> Keys:  # (3, query)
    """The sums of e = exp(score - best), of e^2, and of sigmoid(score) / sigmoid(best).

    With one exponential a score: sigmoid = e / (e + rest). Each tile of entities is added up by
    itself, and the sums of tiles as whole numbers, which come to the same in any order.
    """
    sums = np.zeros((3, len(scores)))
    there = np.isfinite(best)
    scores, best = scores[there], best[there]
    shares = np.exp(scores - best[:, None])
    sums[0, there] = _in_units(sums_by_tile(shares, width))
    sums[1, there] = _in_units(sums_by_tile(shares, width, shares))
    shares /= shares + np.exp(-np.maximum(best, FAINT))[:, None]
    highest = _highest(best.astype(np.float64))[:, None]
    sums[2, there] = _in_units(sums_by_tile(shares, width) / highest)
    return sums.astype(np.int64)


def _in_units(sums: Values) -> Values:  # (query,)
    in_units: Values = np.rint(sums * UNITS).sum(axis=1)
    return in_units


def _highest(best: Values) -> Values:
    """The sigmoid of the highest score, or of a faint one, if all are fainter."""
    highest: Values = 1 / (1 + np.exp(-np.maximum(best, FAINT)))
    return highest
