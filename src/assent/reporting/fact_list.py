"""The new facts of a run as a page lists them: what may be expected of them, then all of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.core.new_facts import ACCEPTED, DECISIONS, ENTAILED, REVIEW, RULES, STATED, NewFacts
from assent.core.vocabulary import last_part
from assent.files.completions import Kept
from assent.files.fact_rows import rows_of_facts
from assent.reporting.grid import (
    DASH,
    Cell,
    Grid,
    at_least,
    clipped,
    count,
    counted,
    numbers,
    percent,
    probability,
    probability_text,
    texts,
    words,
)
from assent.reporting.new_facts import in_words
from assent.rules.phrases import around_tail

MOST_BYTES = 8_000_000  # of the facts in a page, as JSON: a browser opens it within two seconds
FEW = 20  # facts that can be read where no script runs
MOST_SIGNS = 400  # of a sentence: a name in it may be of any length
HEADINGS = {ACCEPTED: "accepted", REVIEW: "to review", ENTAILED: ENTAILED}
_BY_SCHEMA = f"{ENTAILED} by the stated schema"
REASONS = (6, 1)  # sentences of evidence that a fact is shown with; fewer where facts are many

Probabilities = NDArray[np.float64]  # (fact,)
Row = list[Any]  # head, relation, tail, probability, place in DECISIONS, evidence


class Found(NamedTuple):
    """The new facts of a run, where they were read from, and what their completion said of them."""

    facts: NewFacts
    file: str
    run: str = ""  # the run that made them; empty where the file does not say
    kept: Kept | None = None

    @property
    def is_rehearsed(self) -> bool:
        """Whether a rehearsal gave the facts their probabilities, and estimated what is right."""
        return self.kept is not None and self.kept.decided == "rehearsal"

    @property
    def is_reviewed(self) -> bool:
        """Whether people's labels decided, and promise what share is right."""
        return self.kept is not None and self.kept.decided == "review"


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


def headline(found: Found) -> str:
    """How many facts were accepted and, where it was estimated, how many of them are right.

    Those that the stated schema entails are counted apart.
    """
    accepted, entailed = len(_guessed(found.facts)), int(found.facts.entailed.sum())
    if not accepted:
        return f"{counted(entailed, 'new fact')}, {_BY_SCHEMA}" if entailed else "No new facts"
    facts, more = counted(accepted, "new fact"), f"; {entailed:,} more {_BY_SCHEMA}"
    more = more if entailed else ""
    if found.kept is not None and found.is_reviewed:
        share = at_least(found.kept.precision)
        return f"{facts}, at least {share} of them right by a review{more}"
    if not found.is_rehearsed:
        return f"{facts}{more}"
    share = at_least(_share_right(found.facts))
    return f"{facts}, at least {share} of them right by estimate{more}"


def expectation(found: Found) -> list[str]:
    """What share of the accepted facts is right, how that is known, and what it rests on."""
    accepted = _guessed(found.facts)
    if found.kept is not None and found.is_rehearsed:
        sentences = _estimate(accepted, found.kept)
    elif found.kept is not None and found.is_reviewed:
        return [f"{line[0].upper()}{line[1:]}." for line in found.kept.lines]
    elif len(accepted):
        sentences = [_own_probabilities(accepted, found.kept)]
    else:
        sentences = ["No fact was accepted: none scores above the threshold of its relation."]
    if entailed := int(found.facts.entailed.sum()):
        sentences.append(
            f"{counted(entailed, 'fact')} more {'is' if entailed == 1 else 'are'} {_BY_SCHEMA} "
            "from known facts: nobody guessed them, and no estimate is about them."
        )
    return [*sentences, *_review(found.facts, found.is_rehearsed)]


def _estimate(accepted: Probabilities, kept: Kept) -> list[str]:
    """What a rehearsal says of the accepted facts."""
    if len(accepted):
        estimate = (
            f"By estimate, at least {at_least(kept.precision)} of the accepted facts of each "
            f"relation are right, and about {accepted.sum():,.0f} of all {len(accepted):,}. "
            f"{kept.assumption}"
        )
    else:
        estimate = (
            f"No fact was accepted: none are so probable that {at_least(kept.precision)} of them "
            f"are right, by estimate. {kept.assumption}"
        )
    held_out = sum(relation.held_out for relation in kept.relations)
    again = sum(relation.found for relation in kept.relations)
    if not held_out:
        return [estimate]
    return [
        estimate,
        f"In the rehearsal, {again:,} of {held_out:,} hidden facts were accepted again: about "
        f"{percent(again / held_out, 0)} of what is missing may be found.",
    ]


def _own_probabilities(accepted: Probabilities, kept: Kept | None) -> str:
    """What the probabilities of facts add up to that were accepted query by query."""
    about = (
        f"By their own probabilities, about {accepted.sum():,.0f} of the {len(accepted):,} "
        "accepted facts are right"
    )
    if kept is None:
        return f"{about}."
    how = (
        "Their thresholds promise a precision for queries like those of valid"
        if kept.decided == "promise"
        else "Their thresholds and probabilities were found on the queries of valid"
    )
    return (
        f"{about}; it may be fewer. {how}, of which about half have an answer; of all queries that "
        "were asked here, far fewer have one. `assent complete --precision` estimates the share on "
        "the queries that are asked."
    )


def _review(facts: NewFacts, rehearsed: bool) -> Iterator[str]:
    """Facts that a person should look at; and why one may be more probable than an accepted one."""
    accepted, review = _guessed(facts), facts.probabilities[~facts.accepted]
    if not len(review):
        return
    least = probability_text(float(review.min()), 2)
    yield (
        f"{len(review):,} more, of a probability of {least} or above, are left for a person to "
        "review."
    )
    if len(accepted) and review.max() > accepted.min():
        low, high = (probability_text(float(p), 2) for p in (accepted.min(), review.max()))
        how = "so that the precision holds in each" if rehearsed else "found on valid"
        yield (
            f"Each relation has a threshold of its own, {how}. So a fact of one relation may be "
            f"accepted at {low}, and one of another left to review at {high}."
        )


def _origin(found: Found) -> str:
    if found.run:
        return f"Made by the run {clipped(found.run)}. All that is known of them: {found.file}."
    return f"Read from {found.file}, which does not say which run made them."


def _guessed(facts: NewFacts) -> Probabilities:
    """The probabilities of the facts that were accepted as guesses: not of those entailed."""
    probabilities: Probabilities = facts.probabilities[facts.decisions == ACCEPTED]
    return probabilities


def _share_right(facts: NewFacts) -> float:
    return float(_guessed(facts).mean())


def relations_found(facts: NewFacts, kept: Kept | None, name: str) -> Grid:
    """How many facts of each relation there are, and how sure they are; the most accepted first."""
    names, of_fact = facts.vocabulary, facts.facts[:, 1]
    rehearsed = {}
    if kept is not None and kept.decided == "rehearsal":
        rehearsed = {relation.relation: relation for relation in kept.relations}
    rows, shown = [], [ACCEPTED, REVIEW] + [ENTAILED] * bool(facts.entailed.any())
    for relation in np.unique(of_fact).tolist():
        mine = facts.take(of_fact == relation)
        made = mine.decisions.tolist()
        accepted = made.count(ACCEPTED)
        row = [
            words(last_part(names.relation(relation))),
            *(count(made.count(decision)) for decision in shown),
            probability(_share_right(mine)) if accepted else Cell(DASH),
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
