"""What tuning found: thresholds as probabilities, promises, and what was reached on valid."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import expit

from assent.core.benchmark import Benchmark
from assent.core.counts import ratio
from assent.core.decider import Decider
from assent.reporting.decisions import SET_NAMES
from assent.reporting.grid import (
    DASH,
    Cell,
    Grid,
    count,
    digits,
    numbers,
    probability,
    probability_text,
    share,
    texts,
    words,
)

MOST_NAMES = 5  # of relations in a line


def thresholds_grid(decider: Decider, benchmark: Benchmark) -> Grid:
    """The statistics of Appendix B.2, over the slots that valid asks about."""
    thresholds = decider.thresholds.values[np.unique(benchmark.valid.relations)]
    values, nothing = expit(thresholds), int(np.isposinf(thresholds).sum())
    single = len(np.unique(values)) <= 1
    statistics = (
        [probability(float(of(values))) for of in (np.mean, np.min, np.max)]
        if len(values)
        else [Cell(DASH)] * 3
    )
    row = [
        words("one for all" if single else decider.rule),
        count(len(values)),
        *statistics,
        Cell(DASH) if single and not nothing else count(nothing),
    ]
    columns = [
        *texts("thresholds, as probabilities"),
        *numbers("relations, by direction", "mean", "min", "max", "accept nothing"),
    ]
    return Grid("thresholds", columns, [row])


def promise_grid(promise: Mapping[str, Any]) -> Grid:
    """How many relations can promise a precision, and what they accept on valid."""
    sizes = ("alone", "pooled", "cannot", "unasked", "accepted")
    row = [
        share(promise["precision"]),
        share(promise["confidence"]),
        *(count(promise[size]) for size in sizes),
        share(float(ratio(promise["correct"], promise["accepted"]))),
    ]
    columns = [
        *texts("promised"),
        *numbers(
            "confidence", "relations alone", "in the pool", "cannot", "not on valid",
            "facts accepted on valid", "precision on valid",
        ),
    ]  # fmt: skip
    return Grid("promise", columns, [row])


def found_line(decider: Decider) -> str | None:
    """What was found on valid apart from the thresholds, if there is more to say."""
    found = decider.found
    if "promise" in found:
        return _promise_line(found["promise"])
    if "out_of_fold_f1" in found:
        return _judge_line(decider)
    if np.isposinf(decider.thresholds.values).all():
        return f"{decider.objective}: no threshold reaches it on valid, so nothing is accepted"
    if "unreached" in found:
        return (
            f"{decider.objective}: {found['unreached']:,} of the {found['asked']:,} relations "
            "with answers on valid cannot reach it, and accept nothing"
        )
    if not found.get("trials"):
        return None
    tried = ", ".join(f"{float(shrink):g}: {digits(value)}" for shrink, value in found["trials"])
    return (
        "a relation with few answers is drawn to the threshold for all, as if by "
        f"{float(found['shrink']):g} answers more: the best of {tried} "
        f"(cross-validated {decider.objective})"
    )


def _promise_line(promise: Mapping[str, Any]) -> str:
    """What cannot be promised, a few of them by name."""
    cannot = [
        f"{name} ({side})" for side, names in promise["cannot_promise"].items() for name in names
    ]
    if not cannot:
        return "every relation that valid asks about can promise it"
    more = f" and {len(cannot) - MOST_NAMES:,} more" if len(cannot) > MOST_NAMES else ""
    return f"cannot promise, and accept nothing: {', '.join(cannot[:MOST_NAMES])}{more}"


def _judge_line(decider: Decider) -> str:
    """What a judge looks at, and what it reached on queries that its trees had not seen."""
    found = decider.found
    reached = ", ".join(f"{SET_NAMES[s]} {digits(f1)}" for s, f1 in found["out_of_fold_f1"].items())
    models = "1 model" if found["models"] == 1 else f"{found['models']} models"
    lowest = probability_text(float(expit(decider.thresholds.values.min(initial=np.inf))))
    return (
        f"a judge of {found['features']} features and {models}, threshold {lowest}; "
        f"F1 out of fold: {reached}"
    )
