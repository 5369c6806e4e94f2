"""complete: new facts, from every query that the graph may ask."""

from collections.abc import Callable, Sequence

import numpy as np

from assent.completing.by_fact import ByFact
from assent.completing.by_query import ByQuery
from assent.completing.completing import Completion, Ground, Stopping, Wanted
from assent.core.checking import refuse_unknown
from assent.core.decider import Decider
from assent.core.scores import QueriesDone, unheard
from assent.core.thresholds import Thresholds
from assent.errors import ConfigError
from assent.scoring import Scored, entity_vectors
from assent.verbs.deciders import load_decider
from assent.verbs.tune import tune

Work = ByFact | ByQuery


def complete(
    run: Scored,
    precision: float | None = None,
    *,
    over: str = "asked",
    missing: float | None = None,
    confidence: float | None = None,
    decider: Decider | None = None,
    review_above: float | None = None,
    relations: Sequence[str] | None = None,
    anchors: Sequence[str] | None = None,
    max_facts: int | None = None,
    functional: bool = True,
    symmetric: bool = True,
    progress: QueriesDone = unheard,
    stopping: Stopping = lambda: False,
) -> Completion:
    """New facts: asks every query that the graph may ask, and decides about the candidates.

    With `precision`, this share of the accepted facts is to be right, over one of the populations
    of OVER. Over the queries that are `asked`, it is an estimate by a rehearsal: a bound from below
    if at least `missing` (1) facts are missing for each one held out. Scores are the model's own,
    or those of a judge if one is given as `decider`. Over `valid`, thresholds are found on the
    queries of valid that promise the precision with a `confidence` (0.95). Without `precision`, the
    decider given decides, or the one that `assent tune` put into the run's folder.

    Facts that are not accepted but at least as probable as `review_above` come too, to be reviewed.
    """
    ground = Ground(
        run.benchmark,
        Wanted(relations, anchors, max_facts, functional, symmetric, review_above),
        entity_vectors(run.model),
    )
    if precision is None:
        if missing is not None or confidence is not None:
            raise ConfigError("missing and confidence belong to a precision; give one")
        work: Work = ByQuery(ground, run.model, decider or _decider_of(run))
    else:
        refuse_unknown(over, OVER, "over")
        work = OVER[over](run, ground, precision, decider, missing, confidence)
    return work.result(progress, stopping)


def _over_asked(
    run: Scored,
    ground: Ground,
    precision: float,
    decider: Decider | None,
    missing: float | None,
    confidence: float | None,
) -> ByFact:
    if confidence is not None:
        raise ConfigError("over asked, a precision is estimated; confidence belongs to over valid")
    return ByFact(
        ground,
        run.model,
        decider or _own_scores(run),
        precision,
        1.0 if missing is None else missing,
    )


def _over_valid(
    run: Scored,
    ground: Ground,
    precision: float,
    decider: Decider | None,
    missing: float | None,
    confidence: float | None,
) -> ByQuery:
    if missing is not None:
        raise ConfigError("over valid, nothing is supposed to be missing; it belongs to over asked")
    if decider is not None:
        raise ConfigError("over valid, give a precision or a decider, not both")
    found = tune(run, "precision", precision=precision, confidence=confidence)
    return ByQuery(ground, run.model, found)


def _decider_of(run: Scored) -> Decider:
    if (folder := getattr(run, "folder", None)) is None:
        raise ConfigError("a run without a folder has no decider; give a precision")
    return load_decider(folder, run)


def _own_scores(run: Scored) -> Decider:
    """Rescores nothing: the model's own scores count. A judge's did not find more facts."""
    nothing = Thresholds.single(np.inf, run.benchmark.vocabulary.num_slots)
    return Decider.of_thresholds("scores", "f1", nothing)


# The populations over which a precision may be wanted.
OVER: dict[str, Callable[..., Work]] = {"asked": _over_asked, "valid": _over_valid}
