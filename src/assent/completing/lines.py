"""Where acceptance begins in each slot, and where a person is asked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from assent.core.arrays import Ids, frozen
from assent.core.scores import Scores
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import SIDES, Vocabulary
from assent.deciding.rules import Decider
from assent.errors import ConfigError
from assent.judging.judge import Judge

FARTHEST = 200.0  # no score lies farther from 0 than matters
HALVINGS = 64

Numbers = NDArray[np.float64]
# scores and slots (candidate,) -> probabilities (candidate,)
Chances = Callable[[Scores | Numbers, Ids], Numbers]


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """A decider as completion needs it.

    Candidates whose score in the model is above the floors are decided about; a judge gives them
    other scores first, its probabilities. Thresholds and chances are of the scores that decide.
    """

    thresholds: Thresholds  # accepted above
    floors: Thresholds  # nothing below could be accepted or reviewed
    expected: Numbers  # (slot,)  the precision that acceptance had on valid; nan: not known
    chances: Chances
    review_above: float  # the probability from which on a person is asked

    @classmethod
    def of(cls, decider: Decider | Judge, names: Vocabulary, review_above: float | None) -> Self:
        """`review_above` None: nobody is asked."""
        if review_above is not None and not 0 < review_above <= 1:
            raise ConfigError(f"review_above = {review_above:g}; choose more than 0, at most 1")
        bound = np.inf if review_above is None else review_above
        expected = expected_of(decider, names)
        if isinstance(decider, Judge):
            in_vain = np.isposinf(decider.cuts.values) & (bound == np.inf)
            floors = np.where(in_vain, np.inf, decider.thresholds.values)
            return cls(decider.cuts, Thresholds.of(floors), expected, as_judged, bound)
        chances, values = chances_of(decider), decider.thresholds.values
        floors = np.minimum(values, lowest(chances, bound, len(values)))
        return cls(decider.thresholds, Thresholds.of(floors), expected, chances, bound)


def as_judged(scores: Scores | Numbers, slots: Ids) -> Numbers:
    """A judge's scores are probabilities."""
    return np.asarray(scores, np.float64)


def chances_of(decider: Decider) -> Chances:
    """How likely a score is to be right: as calibrated on valid, else as the model takes it."""
    if decider.probabilities is not None:
        return decider.probabilities.of
    return lambda scores, slots: np.asarray(expit(np.asarray(scores, np.float64)))


def lowest(chances: Chances, bound: float, num_slots: int) -> Numbers:  # (slot,)
    """The score in each slot from which on the probability reaches the bound; inf: none does."""
    slots = np.arange(num_slots, dtype=np.int32)
    low, high = np.full(num_slots, -FARTHEST), np.full(num_slots, FARTHEST)
    never = chances(high, slots) < bound
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        reached = chances(middle, slots) >= bound
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    # A score counts from the one that reaches the bound: strictly above the last that does not.
    return np.where(never, np.inf, low)


def expected_of(decider: Decider | Judge, names: Vocabulary) -> Numbers:  # (slot,)
    """The precision that each slot had on valid, as far as the decider states it."""
    stated = decider.found.get("promise", {}).get("expected_precision")
    if stated is None:
        return frozen(np.full(len(decider.thresholds.values), np.nan), np.float64)
    values = [stated[side][relation] for side in SIDES for relation in names.relations]
    return frozen([np.nan if value is None else value for value in values], np.float64)
