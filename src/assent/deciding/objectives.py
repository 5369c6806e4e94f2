"""What a threshold is chosen for."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.core.counts import Counts, f_beta, precision, recall
from assent.errors import ConfigError

SMALLEST = 1e-6  # balance of precision and recall; squares of much smaller ones vanish

Values = NDArray[np.float64]


class Objective(ABC):
    """A number for counts, the higher the better; -inf where they are not acceptable."""

    name: str

    @abstractmethod
    def values(self, counts: Counts) -> Values: ...


@dataclass(frozen=True, slots=True)
class FBeta(Objective):
    """F1, or another balance: recall counts `beta` times as much as precision."""

    beta: float = 1.0

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"f{self.beta:g}"

    def values(self, counts: Counts) -> Values:
        values: Values = np.nan_to_num(np.asarray(f_beta(counts, self.beta)))
        return values


@dataclass(frozen=True, slots=True)
class AtLeast(Objective):
    """Precision (or recall) of at least `share`, and then as much recall (or precision)."""

    metric: str
    share: float

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.metric}={self.share:g}"

    def values(self, counts: Counts) -> Values:
        reached, wanted = precision(counts), recall(counts)
        if self.metric == "recall":
            reached, wanted = wanted, reached
        return np.where(np.asarray(reached) >= self.share, np.nan_to_num(wanted), -np.inf)


def objective(text: str) -> Objective:
    """`f1`, `f0.5`, `precision=0.9`, `recall=0.5`."""
    name, equals, share = text.partition("=")
    try:
        if name in ("precision", "recall") and equals and 0 < float(share) <= 1:
            return AtLeast(name, float(share))
        if name.startswith("f") and not equals and SMALLEST <= float(name[1:]) <= 1 / SMALLEST:
            return FBeta(float(name[1:]))
    except ValueError:
        pass
    raise ConfigError(
        f"objective {text!r}; choose f1, f and another balance, as in f0.5, "
        "precision=P or recall=R with a share of more than 0 and at most 1"
    )
