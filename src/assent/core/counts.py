"""What decisions are measured by: counts that are summed first and divided last."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Number = Any  # a number or an array of numbers


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """How many answers were accepted, how many candidates were, and how many answers there are.

    Numbers, or arrays of one shape. Adding counts is micro-averaging.
    """

    correct: Number  # candidates that were accepted and are answers
    accepted: Number  # candidates that were accepted
    relevant: Number  # answers

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.correct + other.correct,
            self.accepted + other.accepted,
            self.relevant + other.relevant,
        )

    def total(self) -> Self:
        """All of an array's counts together."""
        return type(self)(
            int(np.sum(self.correct)), int(np.sum(self.accepted)), int(np.sum(self.relevant))
        )

    def take(self, rows: ArrayLike) -> Self:
        """The counts at these places, or under this mask."""
        return type(self)(self.correct[rows], self.accepted[rows], self.relevant[rows])

    def by(self, groups: NDArray[Any], size: int) -> Self:
        """Sums by group; `groups` has a number from 0 to size - 1 for each of the counts."""
        return type(self)(
            *(
                np.bincount(groups, column, size).astype(np.int64)
                for column in (self.correct, self.accepted, self.relevant)
            )
        )


def ratio(part: Number, whole: Number) -> Number:
    """`part / whole`; nan where there was nothing to divide, shown as a dash."""
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    quotient = np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole != 0)
    return quotient if quotient.ndim else float(quotient)


def precision(counts: Counts) -> Number:
    return ratio(counts.correct, counts.accepted)


def recall(counts: Counts) -> Number:
    return ratio(counts.correct, counts.relevant)


def f_beta(counts: Counts, beta: float = 1.0) -> Number:
    """Recall counts `beta` times as much as precision."""
    weight = beta * beta
    return ratio((1 + weight) * counts.correct, counts.accepted + weight * counts.relevant)


def f1(counts: Counts) -> Number:
    return f_beta(counts)


METRICS: dict[str, Callable[[Counts], Number]] = {
    "precision": precision,
    "recall": recall,
    "f1": f1,
}
