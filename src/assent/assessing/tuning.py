"""How to decide, found on valid: thresholds, a promise, or a judge."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from assent.assessing.scored import Scored, heard, scored, unheard
from assent.core.checking import refuse_unknown
from assent.core.counts import f1
from assent.core.pairs import joined
from assent.core.scores import QueriesDone, ScoreBlock, collect
from assent.core.thresholds import Thresholds
from assent.deciding.calibrating import Tally, calibrated
from assent.deciding.objectives import FBeta, Objective
from assent.deciding.objectives import objective as parse_objective
from assent.deciding.paper import Levels
from assent.deciding.promising import Promise, promised
from assent.deciding.rules import GRID_RULES, RULES, Decider, best_single, tune_on_grid
from assent.deciding.rules import tune as tune_thresholds
from assent.deciding.shortlisting import Highest
from assent.errors import ConfigError
from assent.judging.features import features
from assent.judging.graph import LINKS, Graph
from assent.judging.judge import PER_ANSWER, Judge, Source, judged_by, train_forest
from assent.judging.spreads import Spreads
from assent.measuring.classification import Classified
from assent.measuring.plain import plain

JUDGE = "judge"  # the rule that is learned
PRECISION = "precision"  # the rule that promises
SHOWN = ("full", "C", "C+F", "I")  # what a judge is shown to reach on valid
NOBODY: Mapping[str, Any] = MappingProxyType({})


def tune(
    run: Scored,
    rule: str = "per-relation",
    objective: str = "f1",
    progress: QueriesDone = unheard,
    others: Mapping[str, Scored] = NOBODY,
    precision: float | None = None,
    confidence: float | None = None,
) -> Decider | Judge:
    """Finds thresholds on valid, or trains a judge there.

    Objectives: f1, f and another balance (f0.5, f2), precision=P, recall=R. A judge also hears
    what the models of other runs, by folder, say. The rule `precision` promises a precision (0.9)
    with a confidence (0.95); a judge does so if it is given one of them.
    """
    aim = parse_objective(objective)
    queries, num_slots = run.benchmark.valid, 2 * run.benchmark.vocabulary.num_relations
    refuse_unknown(rule, [*RULES, PRECISION, *GRID_RULES, JUDGE], "rule")
    if others and rule != JUDGE:
        raise ConfigError(f"{rule}: only a judge can hear several models")
    numbers = {"precision": precision, "confidence": confidence}
    given = {name: value for name, value in numbers.items() if value is not None}
    if given and rule not in (PRECISION, JUDGE):
        raise ConfigError(f"{rule}: promises nothing; {', '.join(given)} belong to rule precision")
    if (given or rule == PRECISION) and aim != FBeta():
        raise ConfigError(f"{rule}: with a promised precision, no other objective")
    if rule == PRECISION:
        return promising(run, **given, progress=progress)
    blocks = scored(run, "valid", progress)
    if rule in GRID_RULES:
        levels = Levels(queries, num_slots)
        collect(blocks, levels)
        return tune_on_grid(rule, levels, aim)
    if rule == JUDGE:
        return _tune_judge(run, others, blocks, Promise(**given) if given else aim)
    highest, tally = Highest(queries, num_slots), Tally(num_slots)
    collect(blocks, highest, tally)
    decider = tune_thresholds(rule, shortlist := highest.result(), aim)
    return replace(decider, probabilities=calibrated(shortlist, tally))


def promising(
    run: Scored,
    precision: float = Promise.precision,
    confidence: float = Promise.confidence,
    progress: QueriesDone = unheard,
) -> Decider:
    """Thresholds on valid that promise a precision, with a confidence."""
    promise = Promise(precision, confidence)
    num_slots = 2 * run.benchmark.vocabulary.num_relations
    highest, tally = Highest(run.benchmark.valid, num_slots), Tally(num_slots)
    collect(scored(run, "valid", progress), highest, tally)
    kept = promised(shortlist := highest.result(), promise)
    found = {"promise": kept.found(run.benchmark.vocabulary)}
    probabilities = calibrated(shortlist, tally)
    return Decider(PRECISION, promise.name, kept.thresholds, found, probabilities)


def _tune_judge(
    run: Scored,
    others: Mapping[str, Scored],
    blocks: Iterable[ScoreBlock],
    aim: Objective | Promise,
) -> Judge:
    queries, models = run.benchmark.valid, heard([run, *others.values()])
    names, num_slots = run.benchmark.vocabulary, 2 * run.benchmark.vocabulary.num_relations
    highest = Highest(queries, num_slots, PER_ANSWER)
    spreads = Spreads(queries)
    collect(blocks, highest, spreads)
    shortlist = highest.result()
    known = features(shortlist, spreads, Graph(run.benchmark), models)
    if joined(run.benchmark.train, queries, names.num_entities).held_out:
        known = known.without(LINKS)  # they would tell how valid was made, not what is true
    forest = train_forest(shortlist, known)
    judged, found = judged_by(forest, shortlist, known), dict[str, Any]()
    if isinstance(aim, Promise):
        kept = promised(judged, aim)
        cuts, found["promise"] = kept.thresholds, kept.found(names)
    else:
        cuts = Thresholds.single(best_single(judged, aim), num_slots)
    accepted = cuts.accept(judged.scores, judged.relations)
    classified = Classified(queries, judged.counts(accepted))
    found |= plain({"out_of_fold_f1": {name: f1(classified.of(name)) for name in SHOWN}})
    sources = map(Source, ("", *others), (model.digest() for model in models))
    floors = Thresholds.of(shortlist.floors)
    return Judge(aim.name, floors, known.names, forest, cuts, tuple(sources), found)
