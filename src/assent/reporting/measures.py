"""Ranking, abstaining, calibration, and the measures of others, as grids and lines."""

from collections.abc import Iterator, Mapping

import numpy as np

from assent.core.counts import METRICS, Counts, ratio
from assent.measuring.calibration import Calibration
from assent.measuring.evaluation import Evaluation
from assent.measuring.pairs import PairRanking
from assent.measuring.triples import TripleClassification, accuracy
from assent.reporting.decisions import metric_cell, metric_name
from assent.reporting.grid import (
    DASH,
    Cell,
    Grid,
    count,
    decimal,
    digits,
    numbers,
    share,
    texts,
    words,
)

HITS = (1, 3, 10)  # that tables show
MOST_RELATIONS = 25  # rows
# Measures that have a table or lines of their own; others are told as they name themselves.
WORDED = ("classification", "ranking", "abstaining", "calibration")
SIDE_NAMES = {"tail": "tails", "head": "heads", "both": "both"}


def ranking_grid(runs: Mapping[str, Evaluation]) -> Grid:
    """Filtered ranks with realistic ties, by what is asked for; of one run, unnamed."""
    named = len(runs) > 1
    rows = []
    for side, side_name in SIDE_NAMES.items():
        for name, evaluation in runs.items():
            found = evaluation.ranking[side]["realistic"]
            rows.append(
                [
                    words(side_name),
                    *[words(name, "run")] * named,
                    count(found["count"]),
                    share(found["inverse_harmonic_mean_rank"]),
                    decimal(found["arithmetic_mean_rank"], 0),
                    *(share(found[f"hits_at_{k}"]) for k in HITS),
                ]
            )
    columns = [
        *texts("ranking (filtered)", *["run"] * named),
        *numbers("answers", "MRR", "mean rank", *(f"hits@{k}" for k in HITS)),
    ]
    return Grid("ranking", columns, rows)


def comparison_grid(runs: Mapping[str, Evaluation]) -> Grid:
    """The decisions of each run beside its ranking, and beside what the highest score tells."""
    kinds = ("N", "F")
    rows = [
        [
            words(name, "run"),
            metric_cell(evaluation, "f1")._replace(note=""),
            share(evaluation.mrr),
            share(evaluation.unfiltered_mrr),
            *(share(evaluation.abstaining.auroc[kind]) for kind in kinds),
        ]
        for name, evaluation in runs.items()
    ]
    against = (f"AUROC against {kind}" for kind in kinds)
    columns = [*texts("run"), *numbers("F1", "MRR", "unfiltered MRR", *against)]
    return Grid("comparison", columns, rows, sortable=len(rows) > 1)


def further_grid(runs: Mapping[str, Evaluation]) -> Grid:
    """The numbers of every measure that has no table or line of its own; no rows if all have."""
    rows = {
        (measure, number): [words(measure), words(number)]
        for evaluation in runs.values()
        for measure, numbers_of in evaluation.lines().items()
        for number in numbers_of
        if measure not in WORDED
    }
    for evaluation in runs.values():
        for (measure, number), row in rows.items():
            value = evaluation.lines()[measure][number]
            row.append(Cell(DASH) if np.isnan(value) else Cell(f"{value:.3g}", value))
    headings = list(runs) if len(runs) > 1 else ["value"]
    return Grid("further", [*texts("measure", ""), *numbers(*headings)], list(rows.values()))


def other_lines(evaluation: Evaluation) -> list[str]:
    """Unfiltered MRR, abstaining and calibration, a line each."""
    apart, (raw, calibrated) = evaluation.abstaining, evaluation.accepted_calibration
    lines = [
        f"MRR with only train answers left out: {digits(evaluation.unfiltered_mrr)}",
        "is there an answer at all? AUROC of the highest score "
        + ", ".join(f"{digits(value)} against {name}" for name, value in apart.auroc.items()),
        f"best candidate accepted for {digits(apart.answer_rate)} of the queries, "
        f"right in {digits(apart.top_precision)} of these",
        _calibration_line("probabilities as scored", evaluation.calibration, raw),
    ]
    if evaluation.calibrated is not None and calibrated is not None:
        mine = _calibration_line("... calibrated on valid", evaluation.calibrated, calibrated)
        lines.append(mine)
    return lines


def _calibration_line(name: str, of_all: Calibration, of_accepted: Calibration) -> str:
    """How far probabilities are from the truth, over all candidates and over accepted facts."""
    stated, true = of_accepted.means()
    return (
        f"{name}: expected calibration error {of_all.error():.2g} over all candidates, "
        f"{digits(of_all.error_above_lowest_bin())} over those above .05, "
        f"{digits(of_accepted.error())} over accepted facts "
        f"(stated {digits(stated)}, right {digits(true)}); Brier score {of_all.brier():.2g}"
    )


def triples_grid(result: TripleClassification, most: int = MOST_RELATIONS) -> Grid:
    """All facts of valid and test, then those of test in the relations with the most."""
    counts, facts = result.by_relation()
    rows = []
    for split in ("valid", "test"):
        of_split, size = result.by_relation(split)
        rows.append([words(split), *_classified(of_split.total(), int(size.sum()))])
    largest = [r for r in np.argsort(-facts, kind="stable").tolist() if facts[r]]
    for relation in largest[:most]:
        name = words(result.vocabulary.relation(relation))
        rows.append([name, *_classified(counts.take(relation), int(facts[relation]))])
    headings = ("facts", "true", "accuracy", *map(metric_name, METRICS))
    columns = [*texts("triple classification"), *numbers(*headings)]
    return Grid("triples", columns, rows, list(_unused_lines(result)))


def _classified(counts: Counts, facts: int) -> list[Cell]:
    """What was measured; dashes where there was no false fact to tell from the true ones."""
    shares = [accuracy(counts, facts), *(of(counts) for of in METRICS.values())]
    measured = facts > counts.relevant
    return [
        count(facts),
        count(counts.relevant),
        *(share(value) if measured else Cell(DASH) for value in shares),
    ]


def _unused_lines(result: TripleClassification) -> Iterator[str]:
    """How many of the false facts given could not be used, and why."""
    for split, left_out in result.left_out.items():
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in left_out.items() if number)
        counts, facts = result.by_relation(split)
        said = [f"left out: {reasons}"] if reasons else []
        if facts.sum() == counts.total().relevant:
            said.append("none is left, so nothing is measured")
        if said:
            yield f"false facts of {split}: {'; '.join(said)}"


def pairs_grid(result: PairRanking) -> Grid:
    """All relations together, then those with the most true pairs."""
    whole = share(result.mean_average_precision()), share(result.hits_at_k())
    rows = [[words(result.split), count(result.true.sum()), *whole]]
    precisions, hits = result.average_precision(), ratio(result.hits, result.weights)
    for place in np.argsort(-result.true, kind="stable")[:MOST_RELATIONS].tolist():
        name = words(result.vocabulary.relation(int(result.relations[place])))
        shares = share(float(precisions[place])), share(float(hits[place]))
        rows.append([name, count(result.true[place]), *shares])
    columns = [
        *texts("entity-pair ranking"),
        *numbers("true pairs", f"MAP@{result.k}", f"Hits@{result.k}"),
    ]
    return Grid("pairs", columns, rows)
