"""All candidates that a completion looked at: how probable each is, and what bars it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Mask
from assent.core.showing import brief
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError

ENTAILED = "entailed"  # in place of a reason: no guess, but entailed, and so accepted
FREE = -1  # nothing bars the candidate: it is accepted if it is probable enough

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Considered:
    """Candidates of all queries, each fact once, ascending by head, relation and tail.

    Those left out are less probable than any that a completion looks at.
    """

    vocabulary: Vocabulary
    facts: Ids  # (candidate, 3)
    probabilities: Values  # (candidate,)
    bars: NDArray[np.int8]  # (candidate,)  place in `reasons`; FREE: nothing bars it
    reasons: tuple[str, ...]  # why a candidate is left out, however probable
    precision: float  # wanted
    thresholds: Values  # (relation,)  of probability, at that precision; inf: nothing is accepted
    missing: float  # facts missing for each one held out, by estimate

    __repr__ = brief

    def __post_init__(self) -> None:
        if {len(self.probabilities), len(self.bars)} != {len(self.facts)}:
            raise DataError("considered: columns of different lengths")
        if len(self.thresholds) != self.vocabulary.num_relations:
            raise DataError("considered: expected a threshold for each relation")
        limits = (self.vocabulary.num_entities, self.vocabulary.num_relations)
        wrong = (self.facts < 0) | (self.facts >= [limits[0], limits[1], limits[0]])
        if wrong.any() or ((self.bars < FREE) | (self.bars >= len(self.reasons))).any():
            raise DataError("considered: an id or a reason that is not there")

    @property
    def free(self) -> Mask:  # (candidate,)
        free: Mask = self.bars == FREE
        return free
