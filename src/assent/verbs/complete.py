"""complete: new facts, from every query that the graph may ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from assent.assessing import Scored, heard, load_decider, promising, unheard
from assent.completing.completing import Completing, Completion, Stopping, Wanted
from assent.core.arrays import frozen
from assent.core.decider import Decider
from assent.core.scores import QueriesDone, Scores
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import SIDES
from assent.deciding import rules
from assent.errors import ConfigError
from assent.experiment import others_heard
from assent.judging.hearing import Hearing
from assent.judging.judge import Judge


def complete(
    run: Scored,
    precision: float | None = None,
    *,
    confidence: float = 0.95,
    decider: Decider | rules.Decider | Judge | None = None,
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
    work = Completing(run.benchmark, run.model, _as_one(decider, run), wanted)
    return work.result(progress, stopping)


def decider_of(run: Scored) -> Decider:
    """What `assent tune` put into the run's folder."""
    return _as_one(_decider_for(run, None, 0.95), run)


def _decider_for(run: Scored, precision: float | None, confidence: float) -> rules.Decider | Judge:
    if precision is not None:
        return promising(run, precision, confidence)
    if (folder := getattr(run, "folder", None)) is None:
        raise ConfigError("a run without a folder has no decider; give a precision")
    return load_decider(folder, run.benchmark)


def _as_one(decider: Decider | rules.Decider | Judge, run: Scored) -> Decider:
    """The one noun of what older functions still return."""
    if isinstance(decider, Decider):
        return decider
    names, found = run.benchmark.vocabulary, decider.found
    stated = found.get("promise", {}).get("expected_precision")
    expected = np.full(names.num_slots, np.nan)
    if stated is not None:
        values = [stated[side][relation] for side in SIDES for relation in names.relations]
        expected = np.array([np.nan if value is None else value for value in values])
    if isinstance(decider, Judge):
        hearing = Hearing(decider, run.benchmark, heard([run, *others_heard(decider)]))
        with np.errstate(divide="ignore", invalid="ignore"):
            cuts = decider.cuts.values
            thresholds = np.where(
                (cuts > 0) & (cuts < 1), logit(cuts), np.sign(cuts - 0.5) * np.inf
            )
        return Decider(
            decider.rule,
            decider.objective,
            decider.thresholds,
            Thresholds.of(thresholds),
            frozen(expected, np.float64),
            rescorer=_Heard(hearing),
            found=found,
        )
    return Decider.of_thresholds(
        decider.rule,
        decider.objective,
        decider.thresholds,
        expected_precision=expected,
        probabilities=decider.probabilities,
        found=found,
    )


@dataclass(frozen=True)
class _Heard:
    hearing: Hearing

    def logits(self, shortlist: Shortlist) -> Scores:
        judged = self.hearing.judged(shortlist, shortlist.spread)  # type: ignore[arg-type]
        return frozen(logit(np.clip(judged.scores.astype(np.float64), 1e-12, 1 - 1e-7)), np.float32)

    def stated(self) -> dict[str, Any]:
        return {}

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {}
