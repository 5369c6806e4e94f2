"""Where acceptance begins in each slot, and where a person is asked."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from assent.core.decider import Decider
from assent.core.thresholds import Thresholds
from assent.errors import ConfigError

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """A decider, and the probability from which on a person is asked."""

    decider: Decider
    floors: Thresholds  # nothing below could be accepted or reviewed
    review_above: float

    @classmethod
    def of(cls, decider: Decider, review_above: float | None) -> Self:
        """`review_above` None: nobody is asked."""
        if review_above is not None and not 0 < review_above <= 1:
            raise ConfigError(f"review_above = {review_above:g}; choose more than 0, at most 1")
        bound = np.inf if review_above is None else review_above
        return cls(decider, decider.floors_for(bound), bound)
