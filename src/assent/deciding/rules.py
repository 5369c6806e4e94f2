"""Rules that find a decider on valid; a rule is a function in the table `RULES`."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.core.decider import Decider
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.deciding.curves import Curves, best_single
from assent.deciding.judge import judge
from assent.deciding.objectives import FBeta, Objective
from assent.deciding.paper import Levels, paper_global, paper_relation
from assent.deciding.promising import Promise, promised
from assent.deciding.shrinking import cross_validated, shrunk
from assent.deciding.tuning import Tuning
from assent.errors import ConfigError

Values = NDArray[np.float64]


def one_for_all(tuning: Tuning) -> Decider:
    """The single threshold that is best for the objective."""
    shortlist, probabilities = tuning.shortlisted()
    single = best_single(shortlist, tuning.objective)
    return Decider.of_thresholds(
        "global",
        tuning.objective.name,
        Thresholds.single(single, tuning.names.num_slots),
        probabilities=probabilities,
    )


def one_per_relation(tuning: Tuning) -> Decider:
    """A threshold for each slot: see `best_together`."""
    shortlist, probabilities = tuning.shortlisted()
    values, found = best_together(shortlist, tuning.objective)
    return Decider.of_thresholds(
        "per-relation",
        tuning.objective.name,
        Thresholds.of(values),
        probabilities=probabilities,
        found=found,
    )


def best_together(
    shortlist: Shortlist, objective: Objective, shrink: float | None = None
) -> tuple[Values, dict[str, Any]]:
    """The thresholds (slot,) that are best together for micro-F1, those of sparse slots shrunk.

    How much they are shrunk towards the threshold for all is chosen by cross-validation, unless
    given. Precision or recall of at least so much is asked of every slot by itself. Returns the
    thresholds and what was found on the way, for people to read.
    """
    if isinstance(objective, FBeta):
        trials = [] if shrink is not None else cross_validated(shortlist, objective.beta)
        chosen = max(trials, key=lambda trial: trial.f).shrink if trials else shrink or 0.0
        tried = [(trial.shrink, trial.f) for trial in trials]
        return shrunk(shortlist, objective.beta, chosen), {"shrink": chosen, "trials": tried}
    curves = Curves.by_relation(shortlist)
    groups, points = curves.best(reached := objective.values(curves.counts()))
    values = np.full(len(shortlist.floors), np.inf)
    values[groups] = np.where(np.isfinite(reached[points]), curves.thresholds[points], np.inf)
    asked = np.unique(shortlist.queries.relations[shortlist.queries.has_answers])
    return values, {"unreached": int(np.isposinf(values[asked]).sum()), "asked": len(asked)}


def promising(tuning: Tuning) -> Decider:
    """The lowest thresholds that promise a precision with a confidence, slot by slot."""
    promise = tuning.promise or Promise()
    shortlist, probabilities = tuning.shortlisted()
    kept = promised(shortlist, promise)
    return Decider.of_thresholds(
        "precision",
        promise.name,
        kept.thresholds,
        expected_precision=kept.expected_precision(),
        probabilities=probabilities,
        found={"promise": kept.found(tuning.names)},
    )


def on_grid(rule: str, search: Callable[[Levels], Thresholds]) -> Callable[[Tuning], Decider]:
    """One of the paper's own searches as a rule."""

    def found(tuning: Tuning) -> Decider:
        if tuning.objective != FBeta():
            raise ConfigError(f"{rule}: the paper's search is for f1, not {tuning.objective.name}")
        levels = Levels(tuning.queries, tuning.names.num_slots)
        tuning.collect(levels)
        return Decider.of_thresholds(rule, tuning.objective.name, search(levels))

    return found


class Rule(NamedTuple):
    """A way to find a decider, and what may be asked of it."""

    find: Callable[[Tuning], Decider]
    promises: bool = False  # whether a precision and a confidence can be asked for
    hears_others: bool = False  # whether models of other runs can take part


RULES: dict[str, Rule] = {
    "global": Rule(one_for_all),
    "per-relation": Rule(one_per_relation),
    "precision": Rule(promising, promises=True),
    "paper-global": Rule(on_grid("paper-global", paper_global)),
    "paper-relation": Rule(on_grid("paper-relation", paper_relation)),
    "judge": Rule(judge, promises=True, hears_others=True),
}
