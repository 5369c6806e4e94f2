"""Scores of candidates: a slice of queries, and a number for every entity."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.core.queries import Queries
from assent.errors import DataError

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreBlock:
    """A score is a logit, higher is better; -inf = not a candidate. No other meaning anywhere."""

    queries: Queries
    scores: Scores  # (query, entity)

    def __post_init__(self) -> None:
        if self.scores.ndim != 2 or len(self.scores) != len(self.queries):
            raise DataError(f"{len(self.queries)} queries, but scores of {self.scores.shape}")

    def of_answers(self) -> Scores:  # (answer,)
        """The score of every answer, in the order of the answers."""
        rows = np.repeat(np.arange(len(self.queries)), self.queries.num_answers)
        return self.scores[rows, self.queries.answers]
