"""The new facts of a run as a page lists them: relation by relation, then all of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from assent.core.new_facts import ACCEPTED, DECISIONS, ENTAILED, REVIEW, RULES, STATED, NewFacts
from assent.core.vocabulary import last_part
from assent.files.completions import REHEARSAL, Kept
from assent.files.fact_rows import rows_of_facts
from assent.reporting.expecting import Found, expectation, headline, share_right
from assent.reporting.grid import (
    DASH,
    Cell,
    Grid,
    clipped,
    count,
    numbers,
    probability,
    texts,
    words,
)
from assent.reporting.new_facts import in_words
from assent.rules.phrases import around_tail

MOST_BYTES = 8_000_000  # of the facts in a page, as JSON: a browser opens it within two seconds
FEW = 20  # facts that can be read where no script runs
MOST_SIGNS = 400  # of a sentence: a name in it may be of any length
HEADINGS = {ACCEPTED: "accepted", REVIEW: "to review", ENTAILED: ENTAILED}
REASONS = (6, 1)  # sentences of evidence that a fact is shown with; fewer where facts are many

Row = list[Any]  # head, relation, tail, probability, place in DECISIONS, evidence


class FactList(NamedTuple):
    """What a page says about the new facts of one run, and the facts themselves as JSON."""

    name: str
    run: str
    rehearsed: bool  # whether one probability decided, not the thresholds of `assent tune`
    headline: str
    sentences: Sequence[str]  # what may be expected of the facts
    relations: Grid
    few: Grid
    notes: Sequence[str]  # where the facts come from, and which of them the page leaves out
    data: Mapping[str, Any]


def fact_list(found: Found, number: int) -> FactList:
    """The list of one run's facts, the `number`th of the page."""
    facts = found.facts.take(np.argsort(-found.facts.probabilities, kind="stable"))
    data, notes = listed(facts, found.file)
    return FactList(
        f"facts-{number}",
        found.run,
        found.is_rehearsed,
        headline(found),
        expectation(found),
        relations_found(facts, found.kept, f"found-{number}"),
        _few(facts, f"few-{number}"),
        [_origin(found), *notes],
        data,
    )


def _origin(found: Found) -> str:
    if found.run:
        return f"Made by the run {clipped(found.run)}. All that is known of them: {found.file}."
    return f"Read from {found.file}, which does not say which run made them."


def relations_found(facts: NewFacts, kept: Kept | None, name: str) -> Grid:
    """How many facts of each relation there are, and how sure they are; the most accepted first."""
    names, of_fact = facts.vocabulary, facts.facts[:, 1]
    rehearsed = {}
    if kept is not None and kept.decided == REHEARSAL:
        rehearsed = {relation.relation: relation for relation in kept.relations}
    rows, shown = [], [ACCEPTED, REVIEW] + [ENTAILED] * bool(facts.entailed.any())
    for relation in np.unique(of_fact).tolist():
        mine = facts.take(of_fact == relation)
        made = mine.decisions.tolist()
        accepted = made.count(ACCEPTED)
        row = [
            words(last_part(names.relation(relation))),
            *(count(made.count(decision)) for decision in shown),
            probability(share_right(mine)) if accepted else Cell(DASH),
        ]
        if rehearsed:
            said = rehearsed.get(names.relations[relation])
            row.append(
                Cell(DASH)
                if said is None
                else count(said.found)._replace(note=f"of {said.held_out:,} held out")
            )
        rows.append(row)
    rows.sort(key=lambda row: (-(row[1].value or 0), -(row[2].value or 0), row[0].text))
    mean = "right, by estimate" if rehearsed else "mean probability"
    columns = [
        *texts("relation"),
        *numbers(*(HEADINGS[one] for one in shown), mean, *["found again"] * bool(rehearsed)),
    ]
    return Grid(name, columns, rows, sortable=True)


def _few(facts: NewFacts, name: str) -> Grid:
    """The surest facts as a plain table."""
    names, rows, entailed = facts.vocabulary, [], facts.entailed
    for place, fact in enumerate(facts.facts[:FEW].tolist()):
        sure = probability(float(facts.probabilities[place]))
        rows.append([Cell(in_words(fact, names)), words(ENTAILED) if entailed[place] else sure])
    return Grid(name, [*texts("the surest"), *numbers("probability")], rows)


def listed(facts: NewFacts, file: str) -> tuple[dict[str, Any], list[str]]:
    """As many of these facts as a page has room for, as JSON; and what was left out, in words."""
    notes = []
    for reasons in REASONS:
        rows, sizes = _rows(facts, reasons)
        if sizes[-1:].sum() <= MOST_BYTES:
            break
        notes = [
            f"There are many facts: each is shown with its best evidence only; {file} has all."
        ]
    shown = int(np.searchsorted(sizes, MOST_BYTES, side="right"))
    if shown < len(rows):
        notes.append(
            f"This page has room for the {shown:,} surest facts; {len(rows) - shown:,} less sure "
            f"ones stand in {file} alone."
        )
    names = facts.vocabulary
    used = {row[place] for row in rows[:shown] for place in (0, 2)}
    return (
        {
            "entities": {
                entity: _named(names.entities[entity], names.entity(entity))
                for entity in sorted(used)
            },
            "relations": [
                _named(name, last_part(names.relation(relation)))
                for relation, name in enumerate(names.relations)
            ],
            "around": [  # what a fact says between its head and its tail, and after it
                [clipped(part) for part in around_tail(names.relation(relation))]
                for relation in range(names.num_relations)
            ],
            "rows": rows[:shown],
        },
        notes,
    )


def _rows(facts: NewFacts, reasons: int) -> tuple[list[Row], Any]:
    """Each fact with so many pieces of evidence; and the bytes that it and those before it take."""
    names, rows, sizes, seen = facts.vocabulary, [], [], set[int]()
    written = zip(facts.facts.tolist(), rows_of_facts(facts), strict=True)
    for (head, relation, tail), row in written:
        made = [
            head,
            relation,
            tail,
            round(row["probability"], 5),
            DECISIONS.index(row["decision"]),
            list(evidence_in_words(row))[:reasons],
        ]
        rows.append(made)
        fresh = {head, tail} - seen
        seen |= fresh
        size = sum(len(str(_named(names.entities[e], names.entity(e))).encode()) for e in fresh)
        sizes.append(size + len(json.dumps(made, ensure_ascii=False).encode()))
    return rows, np.cumsum(np.array(sizes, np.int64))


def _named(name: str, label: str) -> list[str]:
    """An entity or relation as people read it and, where files have another name, that too."""
    return [clipped(label)] if label == name else [clipped(label), clipped(name)]


def evidence_in_words(row: Mapping[str, Any]) -> Iterator[str]:
    """What speaks for a fact and then against it, as `rows_of_facts` has it, a sentence each."""
    speaking = [_sentence(reason["sentence"]) for reason in row["evidence"]]
    if all(reason["kind"] not in (STATED, *RULES) for reason in row["evidence"]) and (
        speaking or row["against"]
    ):
        speaking[:1] = [": ".join(["By similarity alone", *speaking[:1]])]
    yield from speaking
    for reason in row["against"]:
        yield _sentence(f"Against: {reason['sentence']}")


def _sentence(text: str) -> str:
    return text if len(text) <= MOST_SIGNS else text[: MOST_SIGNS - 1] + "…"
