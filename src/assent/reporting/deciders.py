"""What tuning found: thresholds as probabilities, promises, and what was reached on valid."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import expit

from assent.core.benchmark import Benchmark
from assent.core.counts import ratio
from assent.core.decider import Decider
from assent.reporting.decisions import SET_NAMES, metric_name
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
    """The statistics of Appendix B.2, over the slots that valid asks about and that accept any."""
    thresholds = decider.thresholds.values[np.unique(benchmark.valid.relations)]
    accepting = expit(thresholds[~np.isposinf(thresholds)])
    nothing = len(thresholds) - len(accepting)
    single = len(np.unique(thresholds)) <= 1
    statistics = (
        [probability(float(of(accepting))) for of in (np.mean, np.min, np.max)]
        if len(accepting)
        else [Cell(DASH)] * 3
    )
    row = [
        words("one for all" if single else decider.rule),
        count(len(thresholds)),
        *statistics,
        Cell(DASH) if single and not nothing else count(nothing),
    ]
    columns = [
        *texts("thresholds, as probabilities"),
        *numbers("relations, by direction", "mean", "min", "max", "accept nothing"),
    ]
    notes = []
    if nothing and len(accepting):
        notes.append(f"mean, min and max are of the {len(accepting):,} that accept something")
    return Grid("thresholds", columns, [row], notes)


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


def found_lines(decider: Decider) -> list[str]:
    """What was found on valid apart from the thresholds, if there is more to say."""
    found = decider.found
    if "promise" in found:
        return [_promise_line(found["promise"])]
    if "out_of_fold_f1" in found:
        return [_judge_line(decider)]
    if np.isposinf(decider.thresholds.values).all():
        return [f"{decider.objective}: no threshold reaches it on valid, so nothing is accepted"]
    if "unreached" in found:
        return [
            f"{decider.objective}: {found['unreached']:,} of the {found['asked']:,} relations "
            "with answers on valid cannot reach it, and accept nothing"
        ]
    return _lent_lines(decider) if found.get("trials") else []


def _lent_lines(decider: Decider) -> list[str]:
    """How much relations with few answers follow the others, and what other amounts come to."""
    found, objective = decider.found, metric_name(decider.objective)
    lent = float(found["shrink"])
    if lent == 0:
        said = "each relation has a threshold from its own answers alone"
    elif np.isinf(lent):
        said = "all relations have one threshold: those of their own do no better"
    else:
        answers = "1 answer" if lent == 1 else f"{lent:g} answers"
        said = (
            f"each relation is lent {answers} of all relations together, so that the fewer it has "
            "itself, the nearer its threshold is to the one for all"
        )
    names = {0.0: "none", np.inf: "one threshold for all"}
    tried = ", ".join(
        f"{names.get(float(amount), f'{float(amount):g}')} {digits(value)}"
        for amount, value in found["trials"]
    )
    return [said, f"{objective} on valid, cross-validated, by how many answers are lent: {tried}"]


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
