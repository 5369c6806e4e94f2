"""How the scores of a query are spread over all entities, not only the shortlisted ones."""

import numpy as np
from numpy.typing import NDArray

from assent.core.queries import Queries
from assent.core.scores import ScoreBlock, Scores

CELLS = 1 << 18  # scores looked at together: a few passes over what the processor has at hand
FAINT = np.float32(-80)  # exp(80) is nearly the largest float32


class Spreads:
    """Four numbers a query; a collector of scores."""

    def __init__(self, queries: Queries) -> None:
        self.best: NDArray[np.float64] = np.full(len(queries), -np.inf)  # the highest score
        self.total: NDArray[np.float64] = np.full(len(queries), -np.inf)  # log sum exp
        self.expected: NDArray[np.float64] = np.zeros(len(queries))  # answers, by probabilities

        # 1 where one candidate has it all, n where n share the softmax evenly
        self.effective: NDArray[np.float64] = np.zeros(len(queries))

    def add(self, block: ScoreBlock) -> None:
        size = max(1, CELLS // block.scores.shape[1])
        for first in range(0, len(block.scores), size):
            self._add(block.scores[first : first + size], block.first + first)

    def _add(self, scores: Scores, first: int) -> None:
        """One exponential a score: with e = exp(score - best), a probability is e / (e + rest)."""
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
        # So low that a probability is exp(score), which would be lost in the smaller numbers.
        faint = total * np.exp(best.astype(np.float64))
        self.expected[rows] = np.where(best < FAINT, faint, shares.sum(axis=1))
