"""How the scores of a query are spread over all entities, not only the shortlisted ones."""

import numpy as np

from assent.core.arrays import frozen
from assent.core.queries import Queries
from assent.core.scores import ScoreBlock, Scores
from assent.core.shortlist import Spread

CELLS = 1 << 18  # scores looked at together: a few passes over what the processor has at hand
FAINT = np.float32(-80)  # exp(80) is nearly the largest float32


class Spreading:
    """Computes the four numbers of a `Spread` for each query; a collector of scores."""

    def __init__(self, queries: Queries) -> None:
        self.best = np.full(len(queries), -np.inf)
        self.total = np.full(len(queries), -np.inf)
        self.expected = np.zeros(len(queries))
        self.effective = np.zeros(len(queries))

    def add(self, block: ScoreBlock) -> None:
        size = max(1, CELLS // block.scores.shape[1])
        for first in range(0, len(block.scores), size):
            self._add(block.scores[first : first + size], block.first + first)

    def result(self) -> Spread:
        columns = (self.best, self.total, self.expected, self.effective)
        return Spread(*(frozen(column, np.float64) for column in columns))

    def _add(self, scores: Scores, first: int) -> None:
        """Takes one exponential a score: with e = exp(score - best), sigmoid = e / (e + rest)."""
        best = scores.max(axis=1)
        there = np.isfinite(best)  # a query may be without candidates
        rows = first + np.flatnonzero(there)
        scores, best = scores[there], best[there]
        shares = np.exp(scores - best[:, None])
        total = shares.sum(axis=1).astype(np.float64)
        self.best[rows] = best
        self.total[rows] = best + np.log(total)
        self.effective[rows] = total**2 / np.einsum("ij,ij->i", shares, shares)
        shares /= shares + np.exp(-np.maximum(best, FAINT))[:, None]
        # Scores so low that sigmoid(score) is exp(score), which float32 would lose.
        faint = total * np.exp(best.astype(np.float64))
        self.expected[rows] = np.where(best < FAINT, faint, shares.sum(axis=1))
