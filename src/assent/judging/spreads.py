"""How the scores of a query are spread over all entities, not only the shortlisted ones."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from assent.core.queries import Queries
from assent.core.scores import ScoreBlock


class Spreads:
    """Four numbers a query; a collector of scores."""

    def __init__(self, queries: Queries) -> None:
        self.best: NDArray[np.float64] = np.full(len(queries), -np.inf)  # the highest score
        self.total: NDArray[np.float64] = np.full(len(queries), -np.inf)  # log sum exp
        self.expected: NDArray[np.float64] = np.zeros(len(queries))  # answers, by probabilities

        # 1 where one candidate has it all, n where n share the softmax evenly
        self.effective: NDArray[np.float64] = np.zeros(len(queries))

    def add(self, block: ScoreBlock) -> None:
        mine = slice(block.first, block.first + len(block.queries))
        self.best[mine] = block.scores.max(axis=1)
        self.expected[mine] = expit(block.scores).sum(axis=1, dtype=np.float64)
        some = np.isfinite(self.best[mine])  # a query may be without candidates
        total = logsumexp(block.scores[some], axis=1)
        self.total[mine][some] = total
        self.effective[mine][some] = np.exp(2 * total - logsumexp(2 * block.scores[some], axis=1))
