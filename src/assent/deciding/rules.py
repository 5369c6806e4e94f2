"""Rules that find thresholds on valid: one for all relations, or one for each."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assent.core.arrays import Mask
from assent.core.checking import refuse_unknown
from assent.core.probabilities import Probabilities
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.deciding.curves import Curves
from assent.deciding.objectives import FBeta, Objective
from assent.deciding.paper import Levels, paper_global, paper_relation
from assent.deciding.shrinking import cross_validated, shrunk
from assent.errors import ConfigError


@dataclass(frozen=True, slots=True, eq=False)
class Decider:
    """A decision that can be made again: thresholds, and how they were found."""

    rule: str
    objective: str
    thresholds: Thresholds
    found: dict[str, Any] = field(default_factory=dict)  # on valid, for people to read
    probabilities: Probabilities | None = None  # of candidates; the paper's rules have none

    def accept(self, shortlist: Shortlist) -> Mask:  # (candidate,)
        """Which of the candidates may be added."""
        return shortlist.accepted(self.thresholds)


def one_for_all(shortlist: Shortlist, objective: Objective) -> Decider:
    """The single threshold that is best for the objective."""
    size = len(shortlist.floors)
    return _decider("global", objective, Thresholds.single(best_single(shortlist, objective), size))


def one_per_relation(
    shortlist: Shortlist, objective: Objective, shrink: float | None = None
) -> Decider:
    """The thresholds that are best together for micro-F1, those of sparse relations shrunk.

    How much they are shrunk towards the threshold for all is chosen by cross-validation, unless
    given. Precision or recall of at least so much is asked of every relation by itself.
    """
    if isinstance(objective, FBeta):
        trials = [] if shrink is not None else cross_validated(shortlist, objective.beta)
        chosen = max(trials, key=lambda trial: trial.f).shrink if trials else shrink or 0.0
        values = shrunk(shortlist, objective.beta, chosen)
        found = {"shrink": chosen, "trials": [(trial.shrink, trial.f) for trial in trials]}
        return _decider("per-relation", objective, Thresholds.of(values), found)
    curves = Curves.by_relation(shortlist)
    groups, points = curves.best(reached := objective.values(curves.counts()))
    values = np.full(len(shortlist.floors), np.inf)
    values[groups] = np.where(np.isfinite(reached[points]), curves.thresholds[points], np.inf)
    asked = np.unique(shortlist.queries.relations[shortlist.queries.has_answers])
    found = {"unreached": int(np.isposinf(values[asked]).sum()), "asked": len(asked)}
    return _decider("per-relation", objective, Thresholds.of(values), found)


def best_single(shortlist: Shortlist, objective: Objective) -> float:
    """inf where nothing can be right."""
    curve = Curves.overall(shortlist)
    values = objective.values(curve.counts())
    if not len(values) or not (best := values.max()) > 0:
        return np.inf
    return float(curve.thresholds[int(np.argmax(values == best))])


def tune(rule: str, shortlist: Shortlist, objective: Objective) -> Decider:
    """Thresholds by one of the rules that need nothing but the shortlist."""
    refuse_unknown(rule, RULES, "rule")
    return RULES[rule](shortlist, objective)


def tune_on_grid(rule: str, levels: Levels, objective: Objective) -> Decider:
    """Thresholds by one of the paper's rules."""
    refuse_unknown(rule, GRID_RULES, "rule")
    if objective != FBeta():
        raise ConfigError(f"{rule}: the paper's search is for f1, not {objective.name}")
    return _decider(rule, objective, GRID_RULES[rule](levels))


def _decider(
    rule: str, objective: Objective, thresholds: Thresholds, found: dict[str, Any] | None = None
) -> Decider:
    return Decider(rule, objective.name, thresholds, found or {})


RULES: dict[str, Callable[[Shortlist, Objective], Decider]] = {
    "global": one_for_all,
    "per-relation": one_per_relation,
}
GRID_RULES: dict[str, Callable[[Levels], Thresholds]] = {
    "paper-global": paper_global,
    "paper-relation": paper_relation,
}
