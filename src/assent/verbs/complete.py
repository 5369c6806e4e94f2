"""complete: new facts, from every query that the graph may ask."""

from collections.abc import Sequence

from assent.completing.completing import Completing, Completion, Stopping, Wanted
from assent.core.decider import Decider
from assent.core.scores import QueriesDone, unheard
from assent.errors import ConfigError
from assent.scoring import Scored
from assent.verbs.deciders import load_decider
from assent.verbs.tune import tune


def complete(
    run: Scored,
    precision: float | None = None,
    *,
    confidence: float = 0.95,
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

    With `precision`, thresholds are found on valid that promise it with this confidence. Else the
    decider given decides, or the one that `assent tune` put into the run's folder. Facts that are
    not accepted but at least as probable as `review_above` come too, as facts to review.
    """
    if precision is not None and decider is not None:
        raise ConfigError("give a precision or a decider, not both")
    wanted = Wanted(relations, anchors, max_facts, functional, symmetric, review_above)
    decider = decider or _decider_for(run, precision, confidence)
    work = Completing(run.benchmark, run.model, decider, wanted)
    return work.result(progress, stopping)


def _decider_for(run: Scored, precision: float | None, confidence: float) -> Decider:
    if precision is not None:
        return tune(run, "precision", precision=precision, confidence=confidence)
    if (folder := getattr(run, "folder", None)) is None:
        raise ConfigError("a run without a folder has no decider; give a precision")
    return load_decider(folder, run)
