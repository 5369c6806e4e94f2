"""Sample queries as the paper's Table 3 shows them: candidates falling, the threshold a line."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from assent.core.benchmark import Benchmark
from assent.reporting.asked import Asked
from assent.reporting.cells import chance, clipped
from assent.reporting.samples import asked_in_words, sample_rows
from assent.reporting.subject import Subject

EACH = 2  # queries of a kind
KINDS = {"C": "complete (C)", "I": "incomplete (I)", "N": "empty (N)", "F": "fake (F)"}


class Entry(NamedTuple):
    """A line of a column: a candidate, the threshold, or how many more there are."""

    text: str
    style: str  # `answer`, `known`, `other`; `line`, `more`
    number: str = ""
    accepted: bool = False


class Column(NamedTuple):
    run: str
    entries: Sequence[Entry]


class Question(NamedTuple):
    words: str
    kind: str
    answers: int
    columns: Sequence[Column]


def questions(subjects: Sequence[Subject]) -> list[Question]:
    """The sample queries of one benchmark, and what each run says to them."""
    benchmark = subjects[0].benchmark
    kinds = {row: kind for kind, row in sample_rows(benchmark, EACH)}
    found = []
    for said in zip(*(subject.asked for subject in subjects), strict=True):
        row = said[0].row
        columns = [
            Column(subject.name, _entries(subject, asked))
            for subject, asked in zip(subjects, said, strict=True)
        ]
        question = clipped(asked_in_words(benchmark.test, row, benchmark.vocabulary))
        answers = int(benchmark.test.num_answers[row])
        found.append(Question(question, KINDS[kinds[row]], answers, columns))
    return found


def rows_to_ask(benchmark: Benchmark) -> list[int]:
    """The places in test of the queries that are shown, each once."""
    return list(dict.fromkeys(row for _, row in sample_rows(benchmark, EACH)))


def _entries(subject: Subject, asked: Asked) -> list[Entry]:
    shortlist, names = subject.found.shortlist, subject.benchmark.vocabulary
    mine = subject.found.accepted & (shortlist.rows == asked.row)
    accepted = set(shortlist.entities[mine].tolist())
    entries = [
        Entry(
            clipped(names.entity(entity)),
            "known" if known else "answer" if answer else "other",
            chance(float(expit(score))).text,
            entity in accepted,
        )
        for entity, score, known, answer in zip(
            asked.best.tolist(), asked.falling, asked.known, asked.answers, strict=False
        )
    ]
    return entries if subject.judged else _with_line(subject, asked, entries)


def _with_line(subject: Subject, asked: Asked, entries: list[Entry]) -> list[Entry]:
    slot = subject.benchmark.test.relations[asked.row]
    threshold = float(subject.decider.thresholds.values[slot])
    above = asked.above(threshold)
    nothing = np.isposinf(threshold)
    line = Entry(
        "accepts nothing" if nothing else "threshold",
        "line",
        "" if nothing else chance(float(expit(threshold))).text,
    )
    if above > len(entries):
        return [*entries, Entry(f"… {above - len(entries):,} more", "more"), line]
    return [*entries[:above], line, *entries[above:]]
