"""The score that a candidate must exceed to be accepted, for each slot."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assent.core.arrays import Mask, frozen
from assent.core.showing import brief
from assent.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class Thresholds:
    """One value for each slot; inf accepts nothing, -inf every candidate."""

    values: NDArray[np.float64]  # (slot,)

    __repr__ = brief

    def __post_init__(self) -> None:
        if np.isnan(self.values).any():
            raise DataError("thresholds: one of them is not a number")

    @classmethod
    def of(cls, values: ArrayLike) -> Self:
        return cls(frozen(values, np.float64))

    @classmethod
    def single(cls, value: float, num_slots: int) -> Self:
        """The same value for all slots."""
        return cls.of(np.full(num_slots, value))

    def accept(self, scores: ArrayLike, relations: ArrayLike) -> Mask:
        """Which scores are strictly greater than the threshold of their slot, as in the paper."""
        # In float64, so that a threshold between two neighbouring float32 scores stays there.
        accepted: Mask = np.asarray(scores, np.float64) > self.values[np.asarray(relations)]
        return accepted
