"""The probability that a candidate is right, by its score."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assent.core.arrays import frozen
from assent.core.showing import brief
from assent.errors import DataError

FARTHEST = 60.0  # sigmoids of scores beyond it are 0 or 1 in floating point

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Probabilities:
    """For each slot a sigmoid of the score, and one probability for all scores below a floor.

    They are fitted on all candidates of the queries, so that a probability of .3 means that 3 of
    10 such candidates are right.
    """

    intercepts: Values  # (slot,)
    slopes: Values  # (slot,)   0 or more: a higher score never has a lower probability
    floors: Values  # (slot,)   candidates that score no higher were only counted
    below: Values  # (slot,)    the share of these that are right: their probability

    __repr__ = brief

    def __post_init__(self) -> None:
        columns = (self.intercepts, self.slopes, self.floors, self.below)
        if len({len(column) for column in columns}) != 1:
            raise DataError("probabilities: columns of different lengths")
        if not all(np.isfinite(column).all() for column in (self.intercepts, self.slopes)):
            raise DataError("probabilities: a sigmoid is not finite")
        if np.isnan(self.floors).any() or np.any(self.slopes < 0):
            raise DataError("probabilities: a floor is not a number, or a sigmoid falls")
        if not np.all((self.below >= 0) & (self.below <= 1)):
            raise DataError("probabilities: a share is not between 0 and 1")

    @classmethod
    def made(
        cls, intercepts: ArrayLike, slopes: ArrayLike, floors: ArrayLike, below: ArrayLike
    ) -> "Probabilities":
        return cls(*(frozen(part, np.float64) for part in (intercepts, slopes, floors, below)))

    def of(self, scores: ArrayLike, relations: ArrayLike) -> Values:  # (candidate,)
        """The probability of each of these scores in its slot."""
        relations, scores = np.asarray(relations), np.asarray(scores, np.float64)
        above = sigmoid(self.intercepts[relations] + self.slopes[relations] * near(scores))
        return np.where(scores > self.floors[relations], above, self.below[relations])


def sigmoid(scores: Values) -> Values:
    """The probability that a logit stands for."""
    probabilities: Values = 1 / (1 + np.exp(-near(scores)))
    return probabilities


def near(scores: Values) -> Values:
    """The scores, limited to what an exponential can take."""
    return np.clip(scores, -FARTHEST, FARTHEST)
