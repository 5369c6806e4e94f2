"""How to decide about candidates, whatever found it: thresholds, a promise, or a judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assent.core.arrays import Mask, frozen
from assent.core.probabilities import Probabilities, sigmoid
from assent.core.scores import Scores
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.errors import DataError

FARTHEST = 200.0  # scores are looked for from -FARTHEST to FARTHEST
HALVINGS = 64  # of that range, until the score with a wanted probability is found

Values = NDArray[np.float64]


class Rescorer(Protocol):
    """Gives the candidates of a shortlist new scores, and can be saved."""

    def logits(self, shortlist: Shortlist) -> Scores:  # (candidate,)
        ...

    def stated(self) -> dict[str, Any]:
        """What a person can read of it, as JSON."""
        ...

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its numbers, by name."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Decider:
    """Candidates that score above the floors are scored again, and accepted above the thresholds.

    Only a judge gives other scores than the model's own. Floors are compared with the model's
    scores, thresholds with those that `rescore` returns.
    """

    rule: str
    objective: str
    floors: Thresholds
    thresholds: Thresholds
    expected_precision: Values  # (slot,)  of what is accepted on valid; nan: not known
    probabilities: Probabilities | None = None  # None: the sigmoid of the score
    rescorer: Rescorer | None = None  # None: the model's own scores decide
    found: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))  # for people

    def __repr__(self) -> str:
        return f"Decider({self.rule}, for {self.objective}, {len(self.thresholds.values)} slots)"

    def __post_init__(self) -> None:
        columns = (self.floors.values, self.thresholds.values, self.expected_precision)
        if len({len(column) for column in columns}) != 1:
            raise DataError("decider: columns of different lengths")

    @classmethod
    def of_thresholds(
        cls,
        rule: str,
        objective: str,
        thresholds: Thresholds,
        *,
        expected_precision: ArrayLike | None = None,
        probabilities: Probabilities | None = None,
        found: Mapping[str, Any] | None = None,
    ) -> Self:
        """A decider that takes the model's scores as they are."""
        size = len(thresholds.values)
        expected = np.full(size, np.nan) if expected_precision is None else expected_precision
        return cls(
            rule,
            objective,
            thresholds,
            thresholds,
            frozen(expected, np.float64),
            probabilities,
            found=found or {},
        )

    @property
    def needs_spread(self) -> bool:
        """Whether shortlists must say how the scores of each query are spread."""
        return self.rescorer is not None

    def rescore(self, shortlist: Shortlist) -> Scores:  # (candidate,)
        """The logits that decide: the model's own, or those of a judge."""
        return shortlist.scores if self.rescorer is None else self.rescorer.logits(shortlist)

    def accept(self, shortlist: Shortlist) -> Mask:  # (candidate,)
        """Which of the candidates may be added."""
        return self.thresholds.accept(self.rescore(shortlist), shortlist.relations)

    def probability(self, scores: ArrayLike, slots: ArrayLike) -> Values:  # (candidate,)
        """How probable it is that candidates with these scores, as rescored, are right."""
        if self.probabilities is not None:
            return self.probabilities.of(scores, slots)
        return sigmoid(np.asarray(scores, np.float64))

    def floors_for(self, probability: float) -> Thresholds:
        """Floors above which every candidate lies that is accepted or at least so probable.

        A probability of inf asks for the accepted ones alone.
        """
        thresholds = self.thresholds.values
        if self.rescorer is not None:  # what a judge will say cannot be told from a score
            in_vain = np.isposinf(thresholds) & (probability == np.inf)
            return Thresholds.of(np.where(in_vain, np.inf, self.floors.values))
        return Thresholds.of(np.minimum(thresholds, self._lowest(probability)))

    def _lowest(self, probability: float) -> Values:  # (slot,)
        """The score in each slot above which the probability is reached; inf: it never is."""
        size = len(self.thresholds.values)
        slots, low, high = np.arange(size), np.full(size, -FARTHEST), np.full(size, FARTHEST)
        never = self.probability(high, slots) < probability
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            reached = self.probability(middle, slots) >= probability
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        # The last score that does not reach it: scores strictly above do.
        return np.where(never, np.inf, low)
