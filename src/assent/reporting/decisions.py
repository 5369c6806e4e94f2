"""What was decided and how good it is: by set of queries, by relation, in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assent.core.arrays import Keys
from assent.core.counts import METRICS, precision, recall
from assent.core.decider import Decider
from assent.measuring.classification import Classified, Difference
from assent.measuring.evaluation import Evaluation
from assent.reporting.benchmarks import KIND_NAMES
from assent.reporting.grid import (
    DASH,
    Cell,
    Column,
    Grid,
    clipped,
    count,
    counted,
    decimal,
    digits,
    numbers,
    percent,
    share,
    texts,
    threshold,
    words,
)  # fmt: skip

SET_NAMES = {
    "full": "all queries",
    "C+F": "C and F",
    **KIND_NAMES,
    "new anchor": "the anchor is new",
    "new answers": "the answers are new",
    "no answer": "no answer",
}
METRIC_NAMES = {"f1": "F1"}  # as people write them, where that differs
SUREST = "its surest"  # heads an example for each relation
MOST_RELATIONS = 25  # rows for the terminal


class DecidedRun(NamedTuple):
    """What one run decided, under the name that tables give it."""

    name: str
    decider: Decider
    evaluation: Evaluation


def metric_name(metric: str) -> str:
    """A metric of `METRICS` as people write it."""
    return METRIC_NAMES.get(metric, metric)


def decisions_grid(runs: Mapping[str, Evaluation]) -> Grid:
    """Precision, recall and F1 by set of queries, runs below each other; of one run, unnamed."""
    named = len(runs) > 1
    rows = [
        [words(SET_NAMES[of_set]), *[words(name, "run")] * named, *_decided(evaluation, of_set)]
        for of_set in next(iter(runs.values())).classified.sets
        for name, evaluation in runs.items()
    ]
    (split,) = {evaluation.split for evaluation in runs.values()}
    columns = [
        *texts(f"{split} queries", *["run"] * named),
        *numbers("queries", "answers", "accepted", "right"),
        # A page shows every interval, in small print; elsewhere there is room for that of F1.
        *(Column(metric_name(m), True, "95 %" if m == "f1" else "") for m in METRICS),
        *numbers("facts a query", "left empty"),
    ]
    return Grid("decisions", columns, rows)


def _decided(evaluation: Evaluation, of_set: str) -> Iterator[Cell]:
    classified = evaluation.classified
    counts = classified.of(of_set)
    yield count(classified.within(of_set).sum())
    for number in (counts.relevant, counts.accepted, counts.correct):
        yield count(number)
    for metric in METRICS:
        yield metric_cell(evaluation, metric, of_set)
    yield decimal(classified.per_query(of_set))
    yield share(classified.left_empty(of_set))


def metric_cell(evaluation: Evaluation, metric: str, of_set: str = "full") -> Cell:
    """A metric with its interval; a dash where there is nothing to find."""
    counts = evaluation.classified.of(of_set)
    if not counts.relevant:
        return Cell(DASH)
    return share(float(METRICS[metric](counts)), evaluation.intervals[of_set][metric])


def relations_grid(runs: Sequence[DecidedRun], most: int = MOST_RELATIONS) -> Grid:
    """The slots with the most answers, and what becomes of each; runs side by side.

    Of one run there is an example, too: the surest of what each relation accepts.
    """
    evaluation = runs[0].evaluation
    names, queries = evaluation.vocabulary, evaluation.queries
    asked = np.bincount(queries.relations, minlength=names.num_slots)
    answers = np.bincount(queries.relations, queries.num_answers, names.num_slots)
    order = [slot for slot in np.lexsort((-asked, -answers)).tolist() if asked[slot]]
    parts = [_of_slots(run, order[:most]) for run in runs]
    alone = len(runs) == 1
    examples = _examples(evaluation) if alone else {}
    rows = [
        [
            words(names.relation(slot % names.num_relations)),
            words(names.side(slot)),
            count(asked[slot]),
            count(answers[slot]),
            *(cell for part in parts for cell in part[place]),
            *[examples.get(slot, Cell(DASH))] * alone,
        ]
        for place, slot in enumerate(order[:most])
    ]
    of_run = ["threshold", "accepted", *map(metric_name, METRICS)]
    columns = [
        *texts("relation", "asks for"),
        *numbers("queries", "answers"),
        *numbers(*(name if alone else f"{run.name}\n{name}" for run in runs for name in of_run)),
        *texts(*[SUREST] * alone),
    ]
    notes = []
    if len(order) > most:
        notes.append(f"The {most:,} with the most answers, of {len(order):,}.")
    return Grid("relations", columns, rows, notes, sortable=True)


def _of_slots(run: DecidedRun, slots: Sequence[int]) -> list[list[Cell]]:
    """The threshold of each slot, what it accepts, and the metrics of that."""
    counts = run.evaluation.classified.by_relation(run.evaluation.vocabulary.num_slots)
    thresholds = run.decider.thresholds.values
    return [
        [
            threshold(float(thresholds[slot])),
            count(counts.accepted[slot]),
            *(share(float(of(counts.take(slot)))) for of in METRICS.values()),
        ]
        for slot in slots
    ]


def _examples(evaluation: Evaluation) -> dict[int, Cell]:
    """Slot -> its surest decision, anchor and answer."""
    found, names = evaluation.shortlist, evaluation.vocabulary
    examples = {}
    for place in _surest(evaluation).tolist():
        right = bool(found.right[place])
        anchor = names.entity(int(found.queries.anchors[found.rows[place]]))
        answer = names.entity(int(found.entities[place]))
        examples[int(found.relations[place])] = Cell(
            f"{clipped(anchor)} → {clipped(answer)}",
            note="" if right else "not in the graph",
            style="right" if right else "",
        )
    return examples


def _surest(evaluation: Evaluation) -> Keys:  # (relation,)
    """The places in the shortlist of the surest decision about each relation, falling."""
    found = evaluation.shortlist
    accepted = np.flatnonzero(evaluation.accepted)
    accepted = accepted[np.argsort(-found.scores[accepted], kind="stable")]
    _, first = np.unique(found.relations[accepted], return_index=True)
    return accepted[np.sort(first)]


def summary(evaluation: Evaluation) -> list[str]:
    """Sentences: what was accepted, how much of that is right, and what was left empty."""
    classified = evaluation.classified
    counts, asked = classified.of("full"), counted(len(evaluation.queries), "query")
    if not counts.accepted:
        return [f"To {asked} it accepts nothing."]
    sentences = [
        f"To {asked} it accepts {counted(counts.accepted, 'fact')}; "
        f"{percent(precision(counts))} of them are right."
    ]
    if counts.relevant:
        sentences.append(
            f"It finds {percent(recall(counts))} of the {counts.relevant:,} answers "
            "that are there to find."
        )
    empty = _left_empty(classified)
    return [*sentences, f"It leaves {' and '.join(empty)} empty."] if empty else sentences


def _left_empty(classified: Classified) -> list[str]:
    kinds = {"N": "queries that lost all answers", "F": "nonsensical ones"}
    return [
        f"{percent(classified.left_empty(of_set))} of the {kind}"
        for of_set, kind in kinds.items()
        if classified.within(of_set).any()
    ]


def new_entities_line(evaluation: Evaluation, known: int) -> str:
    """What was asked where queries are about entities that building removed."""
    new = evaluation.vocabulary.num_entities - known
    return (
        f"asked about {new:,} entities that building removed, known by their texts, beside "
        f"{known:,} known ones; nothing was tuned on such queries"
    )


def difference_line(of_set: str, found: Difference) -> str:
    """How much better one of two decisions about the same queries is."""
    sign = "+" if found.f1 >= 0 else ""
    unclear = "" if found.is_clear else ", not clear"
    low, high = map(digits, found.interval)
    return f"{SET_NAMES[of_set]}: F1 {sign}{digits(found.f1)} ({low} to {high}{unclear})"
