"""The whole path of a fact, from file to decision: the only place that knows the order."""

from collections.abc import Sequence

from assent.completing.completion import Completion, collected
from assent.completing.lines import Lines
from assent.completing.running import Completing, Stopping, Wanted
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
    """New facts: all that the graph may ask for, decided.

    With `precision`, thresholds are found on valid that promise it with this confidence; else
    the decider or judge given decides, or what `assent tune` put into the run's folder. What is not
    accepted but as probable as `review_above` comes too, as facts to review.
    """
    if precision is not None and decider is not None:
        raise ConfigError("give a precision or a decider, not both")
    decider = decider or _decider_for(run, precision, confidence)
    lines = Lines.of(decider, review_above)
    wanted = Wanted(relations, anchors, max_facts, functional, symmetric)
    work = Completing(run.benchmark, run.model, lines, wanted)
    promises = "promise" in decider.found
    return collected(work, run.benchmark.vocabulary, promises, progress, stopping)


def _decider_for(run: Scored, precision: float | None, confidence: float) -> Decider:
    if precision is not None:
        return tune(run, "precision", precision=precision, confidence=confidence)
    if (folder := getattr(run, "folder", None)) is None:
        raise ConfigError("a run without a folder has no decider; give a precision")
    return load_decider(folder, run)
