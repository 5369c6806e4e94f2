"""tune: how to decide, found on valid."""

from collections.abc import Mapping
from typing import NamedTuple

from assent.core.benchmark import Benchmark
from assent.core.checking import refuse_unknown
from assent.core.decider import Decider
from assent.core.scores import Collector, QueriesDone, Scorer, collect
from assent.deciding.objectives import FBeta
from assent.deciding.objectives import objective as parse_objective
from assent.deciding.promising import Promise
from assent.deciding.rules import RULES
from assent.deciding.tuning import Source, Tuning
from assent.errors import ConfigError
from assent.reporting.progress import minutes_of_queries
from assent.reporting.showing import shown
from assent.scoring import Scored, score_split
from assent.verbs.deciders import NOBODY, features_from, for_model, heard
from assent.verbs.labelled import with_reviewed


class Asked(NamedTuple):
    """A model and the queries that it is asked, in place of those of its run."""

    benchmark: Benchmark
    model: Scorer


def tune(
    run: Scored,
    rule: str = "per-relation",
    objective: str = "f1",
    progress: QueriesDone | bool = True,
    others: Mapping[str, Scored] = NOBODY,
    precision: float | None = None,
    confidence: float | None = None,
    reviewed: bool = False,
) -> Decider:
    """Finds on valid how to decide, by one of the rules: thresholds, a promise, or a judge.

    Objectives: f1, f and another balance (f0.5, f2), precision=P, recall=R. A judge also takes into
    account how the models of other runs, by folder, score. The rule `precision` promises a
    precision (0.9) with a confidence (0.95); a judge does so if it is given one of them. With
    `reviewed`, a judge learns from the labels of `assent review` too: the queries about what people
    looked at are asked as those of valid are.
    """
    refuse_unknown(rule, RULES, "rule")
    chosen, aim = RULES[rule], parse_objective(objective)
    if others and not chosen.hears_others:
        raise ConfigError(f"{rule}: other runs (--with) count for rule judge alone")
    numbers = {"precision": precision, "confidence": confidence}
    given = {name: value for name, value in numbers.items() if value is not None}
    if given and not chosen.promises:
        raise ConfigError(f"{rule}: promises nothing; {', '.join(given)} belong to rule precision")
    if (given or rule == "precision") and aim != FBeta():
        raise ConfigError(f"{rule}: with a promised precision, no other objective")
    if reviewed and rule != "judge":
        raise ConfigError(f"{rule}: learns nothing from single labels; reviewed is for rule judge")
    asked = Asked(with_reviewed(run), run.model) if reviewed else run
    runs = [run, *others.values()]
    if chosen.hears_others:
        models = heard(runs)  # refuses what cannot be heard, before any work
        if len({model.digest() for model in models}) < len(models):
            raise ConfigError(
                "a judge hears each model once: name other runs than its own (--with)"
            )

    def collect_scores(*collectors: Collector) -> None:
        collect(score_split(asked, "valid", told), *collectors)

    def sources() -> tuple[Source, ...]:
        return tuple(map(Source, ("", *others), (model.digest() for model in heard(runs))))

    promise = Promise(**given) if given else None
    with shown(progress, minutes_of_queries) as told:
        found = chosen.find(
            Tuning(asked.benchmark, collect_scores, aim, promise, features_from(runs), sources)
        )
    return for_model(found, run)
