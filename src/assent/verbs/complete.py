"""complete: new facts, from every query that the graph may ask."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from assent.adapters.adapting import Adapted
from assent.completing.by_fact import ByFact
from assent.completing.by_query import ByQuery
from assent.completing.certain import with_entailed
from assent.completing.completing import Completion, Stopping, Telling, Wanted
from assent.completing.ground import Ground
from assent.completing.keeping import Keeper
from assent.completing.proposing import Proposer, Rules, no_rules
from assent.core.arrays import Ids
from assent.core.checking import refuse_unknown
from assent.core.decider import Decider
from assent.core.scores import QueriesDone
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError
from assent.reporting.progress import minutes_of_queries
from assent.reporting.showing import shown
from assent.reviewing.accepting import respecting
from assent.rules.model import log_odds
from assent.scoring import Scored, seen_by
from assent.verbs.deciders import load_decider, model_of
from assent.verbs.labelled import by_labels, judged_of
from assent.verbs.refit import refit as final_fit
from assent.verbs.refit import refit_minutes
from assent.verbs.runs import Run, folder_of
from assent.verbs.tune import tune

Work = ByFact | ByQuery
OVER = ("asked", "valid")  # the populations over which a precision may be wanted
MISSING = 2.0  # facts that a relation may lack for each one held out
REFIT_MINUTES = 10.0  # a final fit that takes no longer is made without being asked for


def complete(
    run: Scored,
    precision: float | None = None,
    *,
    over: str = "asked",
    missing: float | None = None,
    confidence: float | None = None,
    refit: bool | None = None,
    reviewed: bool = False,
    decider: Decider | None = None,
    review_above: float | None = None,
    relations: Sequence[str] | None = None,
    anchors: Sequence[str] | None = None,
    max_facts: int | None = None,
    functional: bool = True,
    symmetric: bool = True,
    entailed: bool = True,
    progress: QueriesDone | bool = True,
    telling: Telling = lambda work: None,
    stopping: Stopping = lambda: False,
) -> Completion:
    """New facts: asks every query that the graph may ask, and decides about the candidates.

    With `precision`, this share of the accepted facts is to be right, over one of the populations
    of OVER. Over the queries that are `asked`, it is an estimate by a rehearsal, which also tells
    what each relation lacks: at most `missing` (2) facts for each one held out. The model's own
    scores decide with what the rules of the graph say; or a judge does, if one is given as
    `decider`. With `refit`, the model is trained once more on all facts, and then asked about all
    entities, those included that building removed; None does so if it takes at most REFIT_MINUTES
    by what `refit_minutes` expects.

    Over `valid`, thresholds are found on the queries of valid that promise the precision with a
    `confidence` (0.95). Without `precision`, the decider given decides, or the one that `assent
    tune` put into the run's folder.

    With `reviewed`, the labels of `assent review` decide about its proposals, and nothing is asked:
    the precision is promised with the `confidence` (0.95), for all accepted facts together, or for
    each of the `relations` that are named. Without it, too, facts that people called wrong are left
    out, and those that they called right are accepted.

    What the stated schema entails from known facts is accepted as well, unless `entailed` says
    otherwise; it is no guess, and has no part in any estimate.

    Facts that are not accepted but at least as probable as `review_above` come too, to be reviewed.

    `telling` is told in words which work of a rehearsal begins.
    """
    wanted = Wanted(relations, anchors, max_facts, functional, symmetric, entailed, review_above)
    if reviewed:
        if missing is not None or refit or decider is not None or over != "asked":
            raise ConfigError("reviewed: labels decide; leave over, missing, refit, decider out")
        return by_labels(run, precision, confidence, wanted)
    said = judged_of(run)
    if precision is None:
        if missing is not None or confidence is not None or refit:
            raise ConfigError("missing, confidence and refit belong to a precision; give one")
        ground = Ground(run.benchmark, wanted, partial(seen_by, run.model))
        work: Work = ByQuery(ground, run.model, decider or _decider_of(run))
    elif over == "valid":
        if missing is not None or refit:
            raise ConfigError(
                "over valid, nothing is rehearsed: missing, refit belong to over asked"
            )
        if decider is not None:
            raise ConfigError("over valid, give a precision or a decider, not both")
        found = tune(
            run, "precision", precision=precision, confidence=confidence, progress=progress is True
        )
        ground = Ground(run.benchmark, wanted, partial(seen_by, run.model))
        work = ByQuery(ground, run.model, found)
    else:
        refuse_unknown(over, OVER, "over")
        if confidence is not None:
            raise ConfigError(
                "over asked, a precision is estimated; confidence belongs to over valid"
            )
        work = _rehearsed(
            run, wanted, precision, missing, decider, refit, progress is True, telling
        )
    with shown(progress, minutes_of_queries) as told:
        result = work.result(told, stopping)
    return respecting(with_entailed(result, work.ground) if entailed else result, said)


def prepare(
    run: Scored,
    part: tuple[int, int],
    *,
    refit: bool | None = None,
    relations: Sequence[str] | None = None,
    functional: bool = True,
    symmetric: bool = True,
    progress: QueriesDone | bool = True,
    stopping: Stopping = lambda: False,
) -> bool:
    """Asks a part of the queries for `complete`, and keeps what they gave in the run's folder.

    Of a part (3, 8), those of every eighth relation from the third on. When all parts are there,
    `complete` at any precision asks nothing more, and finds what it would have found alone. False:
    stopped before the end; what was done is kept.
    """
    refuse_part(*part)
    if folder_of(run) is None:
        raise ConfigError("a run without a folder has no place to keep a part")
    wanted = Wanted(relations, functional=functional, symmetric=symmetric)
    work = _rehearsed(run, wanted, 0.5, None, None, refit, progress is True)
    with shown(progress, minutes_of_queries) as told:
        return work.prepare(part, told, stopping)


def refuse_part(number: int, count: int) -> None:
    """Ends before any work where there is no such part."""
    if not 1 <= number <= count:
        most = max(count, 1)
        raise ConfigError(f"part {number}/{count}; choose from 1/{most} to {most}/{most}")


def _rehearsed(
    run: Scored,
    wanted: Wanted,
    precision: float,
    missing: float | None,
    decider: Decider | None,
    refit: bool | None,
    show: bool,
    telling: Telling = lambda work: None,
) -> ByFact:
    """Facts decided about by a rehearsal, and proposed by a final fit if there is to be one.

    With `show`, the final fit is made at once, and shown where a person watches.
    """
    if refit and not isinstance(run, Run | Adapted):
        raise ConfigError("a model that was not trained here cannot be fitted again; no refit")
    if refit and isinstance(run, Adapted) and run.fit is None:
        raise ConfigError(
            "refit: it is not known how this model is trained; give adapt a function, fit="
        )
    if refit and decider is not None:
        raise ConfigError("a judge has learned from the first fit; give no decider, or no refit")
    if refit is None:
        refit = decider is None and refit_minutes(run) <= REFIT_MINUTES
    # All relations are rehearsed, whichever are wanted: how probable a fact is must not depend on
    # what else is asked.
    everything = replace(wanted, anchors=None, relations=None)
    ground = Ground(run.benchmark, everything, partial(seen_by, run.model))
    scores = decider or _own_scores(ground.names)
    # A judge has no checksum, so what goes by one is not kept.
    folder = None if decider is not None or not isinstance(run, Run) else run.folder
    keeper = folder and Keeper(folder, model_of(run), ground)
    rules = no_rules if decider is not None else _rules(run.benchmark.train, ground.names)
    rehearsing = Proposer.rehearsing(ground, run.model, scores, rules=rules, keeper=keeper or None)

    @cache
    def fitted() -> Scored:
        assert isinstance(run, Run | Adapted)
        return final_fit(run, progress=show) if isinstance(run, Run) else run.fitted_again()

    def final() -> Proposer:
        whole = fitted()
        ground = Ground(whole.benchmark, wanted, partial(seen_by, whole.model))
        scores, known, nothing = _own_scores(ground.names), ground.facts, ground.facts[:0]
        keeper = folder and Keeper(folder, model_of(whole), ground)
        return Proposer(
            ground,
            whole.model,
            scores,
            known,
            nothing,
            rules=_rules(known, ground.names),
            two_kinds=rehearsing.two_kinds,
            keeper=keeper or None,
        )

    missing = MISSING if missing is None else missing
    if refit:
        work = ByFact(rehearsing, precision, missing, final, telling=telling)
        if show:
            fitted()
        return work
    decided = Ground(run.benchmark, wanted, partial(seen_by, run.model))
    return ByFact(rehearsing, precision, missing, ground=decided, telling=telling)


def _decider_of(run: Scored) -> Decider:
    if (folder := folder_of(run)) is None:
        raise ConfigError("a run without a folder has no decider; give a precision")
    return load_decider(folder, run)


def _rules(facts: Ids, names: Vocabulary) -> Rules:
    return log_odds(facts, names.num_entities, names.num_relations)


def _own_scores(names: Vocabulary) -> Decider:
    """Rescores nothing: the model's own scores count. A judge's did not find more facts."""
    return Decider.of_thresholds("scores", "f1", Thresholds.single(np.inf, names.num_slots))
