"""Tables of what was decided and how good it is."""

from typing import Any

import numpy as np
from rich.table import Table
from scipy.special import expit

from assent.core.benchmark import Benchmark
from assent.core.counts import f1, precision, ratio, recall
from assent.core.queries import SETS
from assent.core.vocabulary import Vocabulary
from assent.deciding.rules import Decider
from assent.judging.judge import Judge
from assent.measuring.calibration import Calibration
from assent.measuring.classification import Difference
from assent.measuring.evaluation import Evaluation
from assent.reporting.tables import KIND_NAMES, table

SET_NAMES = {"full": "all queries", "C+F": "C and F", **KIND_NAMES}
DASH = "\u2013"
MOST_ROWS = 25
MOST_NAMES = 5  # of relations in a line


def share(value: float) -> str:
    """Three digits without the zero, as in the paper; a dash where nothing was to divide."""
    if np.isnan(value):
        return DASH
    return f"{value:.3f}".removeprefix("0") if value >= 0 else f"-{share(-value)}"


def classification_table(evaluation: Evaluation) -> Table:
    """Precision, recall and F1 of each set of queries, with the interval of F1."""
    rows = table(
        "", "queries", "answers", "accepted", "right", "precision", "recall", "F1", "95 %",
        "a query", "left empty",
    )  # fmt: skip
    classified = evaluation.classified
    for name in SETS:
        counts = classified.of(name)
        span = evaluation.intervals[name]["f1"] if counts.relevant else None
        rows.add_row(
            SET_NAMES[name],
            f"{int(SETS[name](evaluation.queries).sum()):,}",
            f"{counts.relevant:,}",
            f"{counts.accepted:,}",
            f"{counts.correct:,}",
            share(precision(counts)) if counts.relevant else DASH,
            share(recall(counts)),
            share(f1(counts)) if counts.relevant else DASH,
            f"{share(span.low)} to {share(span.high)}" if span else DASH,
            f"{classified.per_query(name):.2f}",
            share(classified.left_empty(name)),
        )
    return rows


def ranking_table(evaluation: Evaluation) -> Table:
    """Filtered ranks with realistic ties, by what is asked for."""
    rows = table("ranking (filtered)", "answers", "MRR", "mean rank", "hits@1", "hits@3", "hits@10")
    for side, name in (("tail", "tails"), ("head", "heads"), ("both", "both")):
        numbers = evaluation.ranking[side]["realistic"]
        rows.add_row(
            name,
            f"{int(numbers['count']):,}",
            share(numbers["inverse_harmonic_mean_rank"]),
            f"{numbers['arithmetic_mean_rank']:.0f}",
            *(share(numbers[f"hits_at_{k}"]) for k in (1, 3, 10)),
        )
    return rows


def other_lines(evaluation: Evaluation) -> list[str]:
    """Abstaining and calibration, a line each."""
    apart, (raw, mine) = evaluation.abstaining, evaluation.accepted_calibration
    lines = [
        f"MRR with only train answers left out: {share(evaluation.unfiltered_mrr)}",
        "is there an answer at all? AUROC of the highest score "
        + ", ".join(f"{share(value)} against {name}" for name, value in apart.auroc.items()),
        f"best candidate accepted for {share(apart.answer_rate)} of the queries, "
        f"right in {share(apart.top_precision)} of these",
        probabilities_line("probabilities as scored", evaluation.calibration, raw),
    ]
    if evaluation.calibrated is not None and mine is not None:
        lines.append(probabilities_line("... calibrated on valid", evaluation.calibrated, mine))
    return lines


def probabilities_line(name: str, of_all: Calibration, of_accepted: Calibration) -> str:
    """How far probabilities are from the truth, over all candidates and over accepted facts."""
    stated, true = of_accepted.means()
    return (
        f"{name}: expected calibration error {of_all.error():.2g} over all candidates, "
        f"{share(of_all.error_above_lowest_bin())} over those above .05, "
        f"{share(of_accepted.error())} over accepted facts "
        f"(stated {share(stated)}, right {share(true)}); Brier score {of_all.brier():.2g}"
    )


def relations_table(
    evaluation: Evaluation, decider: Decider | Judge, most: int = MOST_ROWS
) -> Table:
    """The relations with the most answers, and what becomes of each.

    A judge has no thresholds: its floors only say what it looks at.
    """
    names = evaluation.vocabulary
    counts = evaluation.classified.by_relation(2 * names.num_relations)
    asked = np.bincount(evaluation.queries.relations, minlength=2 * names.num_relations)
    rows = table(
        "relation", "asks for", "queries", "answers", "threshold", "accepted", "precision",
        "recall", "F1",
    )  # fmt: skip
    order, lines = np.lexsort((-asked, -counts.relevant)), decider.thresholds.values
    for slot in order[:most]:
        if asked[slot]:
            mine = counts.take(slot)
            rows.add_row(
                *relation_name(names, int(slot)),
                f"{asked[slot]:,}",
                f"{mine.relevant:,}",
                DASH if isinstance(decider, Judge) else share(float(expit(lines[slot]))),
                f"{mine.accepted:,}",
                *(share(of(mine)) for of in (precision, recall, f1)),
            )
    return rows


def relation_name(names: Vocabulary, slot: int) -> tuple[str, str]:
    """The relation, and what it asks for."""
    side, relation = divmod(slot, names.num_relations)
    return (names.relation_labels or names.relations)[relation], ("tail", "head")[side]


def thresholds_table(decider: Decider | Judge, benchmark: Benchmark) -> Table:
    """The statistics of Appendix B.2, over the relations that valid asks about."""
    rows = table(
        "thresholds, as probabilities", "relations", "mean", "min", "max", "accept nothing"
    )
    asked = np.unique(benchmark.valid.relations)
    if isinstance(decider, Judge):
        lines = values = decider.cuts.values[asked]
    else:
        lines = decider.thresholds.values[asked]
        values = expit(lines)
    nothing, values = np.isposinf(lines), np.minimum(values, 1.0)
    if len(np.unique(values)) <= 1:
        one = share(float(values[0])) if len(values) else DASH
        none = f"{len(asked):,}" if nothing.any() else DASH
        rows.add_row("one for all", f"{len(asked):,}", one, one, one, none)
        return rows
    rows.add_row(
        decider.rule,
        f"{len(asked):,}",
        *(share(float(of(values))) for of in (np.mean, np.min, np.max)),
        f"{int(nothing.sum()):,}",
    )
    return rows


def found_line(decider: Decider | Judge) -> str | None:
    """What cross-validation said, or which relations cannot have what was asked for."""
    if "promise" in decider.found:
        return promise_line(decider.found["promise"])
    if isinstance(decider, Judge):
        return judge_line(decider)
    if np.isposinf(decider.thresholds.values).all():
        return f"{decider.objective}: no threshold reaches it on valid, so nothing is accepted"
    if "unreached" in decider.found:
        return (
            f"{decider.objective}: {decider.found['unreached']:,} of the "
            f"{decider.found['asked']:,} relations with answers on valid cannot reach it, "
            "and accept nothing"
        )
    trials = decider.found.get("trials")
    if not trials:
        return None
    tried = ", ".join(f"{float(shrink):g}: {share(value)}" for shrink, value in trials)
    return (
        f"drawn to the threshold for all by {float(decider.found['shrink']):g} answers, "
        f"the best of {tried} (cross-validated {decider.objective})"
    )


def promise_line(promise: dict[str, Any]) -> str:
    """What cannot be promised, a few of them by name."""
    cannot = [
        f"{name} ({side})" for side, names in promise["cannot_promise"].items() for name in names
    ]
    if not cannot:
        return "every relation that valid asks about can promise it"
    more = f" and {len(cannot) - MOST_NAMES:,} more" if len(cannot) > MOST_NAMES else ""
    return f"cannot promise, and accept nothing: {', '.join(cannot[:MOST_NAMES])}{more}"


def promise_table(promise: dict[str, Any]) -> Table:
    """How many relations can promise, and what they accept on valid."""
    rows = table(
        "promised", "confidence", "relations alone", "in the pool", "cannot", "not on valid",
        "facts accepted on valid", "precision on valid",
    )  # fmt: skip
    rows.add_row(
        share(promise["precision"]),
        share(promise["confidence"]),
        *(f"{promise[name]:,}" for name in ("alone", "pooled", "cannot", "unasked", "accepted")),
        share(ratio(promise["correct"], promise["accepted"])),
    )
    return rows


def judge_line(decider: Judge) -> str:
    """What a judge reached on valid, out of fold."""
    reached = ", ".join(
        f"{SET_NAMES[name]} {DASH if value is None else share(value)}"
        for name, value in decider.found["out_of_fold_f1"].items()
    )
    models = "1 model" if len(decider.sources) == 1 else f"{len(decider.sources)} models"
    return (
        f"a judge of {len(decider.names)} features and {models}, "
        f"cut at {decider.cuts.values.min(initial=np.inf):.3g}; F1 out of fold: {reached}"
    )


def difference_lines(differences: dict[str, Difference]) -> list[str]:
    """Two decisions on the same queries."""
    return [
        f"{SET_NAMES[name]}: F1 {'+' if found.f1 >= 0 else ''}{share(found.f1)} "
        f"({share(found.interval.low)} to {share(found.interval.high)}"
        f"{'' if found.is_clear else ', not clear'})"
        for name, found in differences.items()
    ]
