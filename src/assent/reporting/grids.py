"""The tables of the report, from what was measured."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import expit

from assent.building.auditing import Finding
from assent.building.counting import table_one
from assent.core.benchmark import Benchmark
from assent.core.counts import METRICS
from assent.core.queries import SETS
from assent.reporting.cells import Cell, Grid, chance, clipped, count, part, words
from assent.reporting.results import DASH, SET_NAMES, relation_name
from assent.reporting.samples import surest
from assent.reporting.subject import Subject
from assent.reporting.tables import KIND_NAMES, verdict_in_words

COLUMNS = ("head", "tail", "total", "valid", "test")
MOST_RELATIONS = 500  # rows; those with the most answers


def queries_grid(benchmark: Benchmark) -> Grid:
    """The paper's Table 1."""
    rows = [
        [words(KIND_NAMES[kind]), *(count(row[column]) for column in COLUMNS)]
        for kind, row in table_one(benchmark).items()
    ]
    return Grid("queries", ("queries", *COLUMNS), rows)


def audit_grid(findings: Sequence[Finding]) -> Grid:
    rows = [
        [
            words(finding.name),
            words(verdict_in_words(finding), finding.verdict.replace(" ", "-")),
            count(finding.count),
            count(finding.among),
        ]
        for finding in findings
    ]
    return Grid("audit", ("looked for", "", "found", "among"), rows, (0, 1))


def decisions_grid(subjects: Sequence[Subject]) -> Grid:
    """Precision, recall and F1 by subset, the runs below each other."""
    many = len(subjects) > 1  # else its name is clear
    rows = [
        [words(SET_NAMES[name]), *[words(subject.name, "run")] * many, *_decided(subject, name)]
        for name in SETS
        for subject in subjects
    ]
    headings = (
        "test queries", *["run"] * many, "queries", "answers", "accepted", "right",
        "precision", "recall", "F1", "facts a query", "left empty",
    )  # fmt: skip
    return Grid("decisions", headings, rows, (0, 1) if many else (0,))


def _decided(subject: Subject, name: str) -> Iterator[Cell]:
    measured = subject.plain["classification"][name]
    for key in ("queries", "relevant", "accepted", "correct"):
        yield count(measured[key])
    for metric in METRICS:
        defined = measured["relevant"] > 0
        yield part(measured[metric] if defined else None, measured[f"{metric}_interval"])
    added = measured["accepted_per_query"]
    yield Cell(DASH if added is None else f"{added:.2f}", added)
    yield part(measured["left_empty"])


def ranking_grid(subjects: Sequence[Subject]) -> Grid:
    """F1 and the ranking measures side by side."""
    rows = []
    for subject in subjects:
        ranked = subject.plain["both"]["realistic"]
        rows.append(
            [
                words(subject.name, "run"),
                part(subject.plain["classification"]["full"]["f1"]),
                part(subject.plain["mrr"]),
                part(subject.plain["unfiltered_mrr"]),
                *(part(ranked[f"hits_at_{k}"]) for k in (1, 3, 10)),
                *(part(subject.plain["abstaining"]["auroc"][kind]) for kind in ("N", "F")),
            ]
        )
    headings = (
        "run", "F1", "MRR", "unfiltered", "hits@1", "hits@3", "hits@10",
        "AUROC against N", "AUROC against F",
    )  # fmt: skip
    return Grid("ranking", headings, rows, sortable=len(rows) > 1)


def settings_grid(subjects: Sequence[Subject]) -> Grid:
    """A column for each run, a row for each setting that any of them has."""
    columns = [
        {
            f"{section}.{key}": value
            for section, values in subject.settings.items()
            for key, value in values.items()
        }
        | {"decided by": subject.found.rule, "for": subject.decider.objective}
        for subject in subjects
    ]
    keys = dict.fromkeys(key for column in columns for key in column)
    rows = [[words(key), *(words(column.get(key, DASH)) for column in columns)] for key in keys]
    columns_of = range(1 + len(subjects))
    return Grid("settings", ("setting", *(subject.name for subject in subjects)), rows, columns_of)


def relations_grid(subjects: Sequence[Subject]) -> tuple[Grid, int]:
    """Every relation and direction that test asks about, and how many there are in all."""
    benchmark = subjects[0].benchmark
    names, test = benchmark.vocabulary, benchmark.test
    num_slots = 2 * names.num_relations
    asked = np.bincount(test.relations, minlength=num_slots)
    answers = np.bincount(test.relations, test.num_answers, num_slots)
    order = [slot for slot in np.lexsort((-asked, -answers)).tolist() if asked[slot]]
    many = len(subjects) > 1
    parts = [_of_relations(subject, not many) for subject in subjects]
    rows = []
    for slot in order[:MOST_RELATIONS]:
        name, side = relation_name(names, slot)
        mine = [cell for cells in parts for cell in cells[slot]]
        rows.append([words(name), words(side), count(asked[slot]), count(answers[slot]), *mine])
    of_run = ("threshold", "accepted", "precision", "recall", "F1")
    headings = [f"{s.name}\n{word}" if many else word for s in subjects for word in of_run]
    shown = ("relation", "asks for", "queries", "answers", *headings, *["its surest"] * (not many))
    texts = (0, 1) if many else (0, 1, len(shown) - 1)
    return Grid("relations", shown, rows, texts, sortable=True), len(order)


def _of_relations(subject: Subject, examples: bool) -> dict[int, list[Cell]]:
    """Slot -> its threshold, what it accepts, and, as an example, the surest of that."""
    found = subject.found
    counts = found.classified.by_relation(2 * found.vocabulary.num_relations)
    best = {int(found.shortlist.relations[place]): int(place) for place in surest(found)}
    cells = {}
    for slot in np.unique(found.queries.relations).tolist():
        mine = counts.take(slot)
        cells[slot] = [
            _threshold(subject, slot),
            count(mine.accepted),
            *(part(of(mine)) for of in METRICS.values()),
        ]
        if examples:
            cells[slot] += [_example(subject, best[slot]) if slot in best else words(DASH)]
    return cells


def _threshold(subject: Subject, slot: int) -> Cell:
    value = subject.decider.thresholds.values[slot]
    if subject.judged:
        return Cell(DASH)
    return Cell("accepts nothing", 1.0) if np.isposinf(value) else chance(float(expit(value)))


def _example(subject: Subject, place: int) -> Cell:
    found = subject.found.shortlist
    names, right = subject.benchmark.vocabulary, bool(found.right[place])
    anchor = names.entity(int(found.queries.anchors[found.rows[place]]))
    answer = names.entity(int(found.entities[place]))
    text = f"{clipped(anchor)} → {clipped(answer)}"
    return Cell(text, note="" if right else "not in the graph", style="right" if right else "")
