"""New facts: what a completion found, and the most probable facts, as grids and in words."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from assent.completing.completing import Completion, Outcome, Rehearsed, Reviewed
from assent.core.arrays import Keys
from assent.core.new_facts import ENTAILED, NewFacts
from assent.core.vocabulary import Vocabulary, last_part
from assent.reporting.grid import (
    Cell,
    Grid,
    at_least,
    clipped,
    count,
    counted,
    numbers,
    probability,
    probability_text,
    texts,
    words,
)
from assent.rules.phrases import around_tail

MOST_RELATIONS = 25  # rows of the table of a completion
HARDLY = 0.01  # of its facts: a relation that lacks less by estimate is called complete
FEW = 5  # held-out facts of a relation: with fewer, its estimate is mostly that of the others
NAMED = 10  # relations that are named of those that got nothing, for each reason
Columns = dict[str, Callable[[Outcome], Cell]]  # of a table, by heading


def completion_grid(found: Completion) -> Grid:
    """The relations with the most new facts, and what a rehearsal says if there was one."""
    falling = sorted(found.outcomes, key=lambda out: (-out.accepted, -out.review, -out.entailed))
    columns = DECIDED_BY_QUERY if found.rehearsed is None else DECIDED_BY_FACT
    if any(outcome.entailed for outcome in found.outcomes):
        columns = {
            GUESSED.get(name, name): cell for name, cell in {**ENTAILED_TOO, **columns}.items()
        }
    if found.reviewed is not None:
        columns = DECIDED_BY_PEOPLE
    rows = [
        [
            words(last_part(found.vocabulary.relation(outcome.relation))),
            *(cell(outcome) for cell in columns.values()),
        ]
        for outcome in falling[:MOST_RELATIONS]
        if outcome.accepted or outcome.review or outcome.entailed or outcome.refused.counts()
    ]
    return Grid("completion", [*texts("relation"), *numbers(*columns)], rows)


def summary_lines(found: Completion) -> list[str]:
    """All relations together, and those where nothing can be accepted."""
    outcomes = found.outcomes
    entailed = sum(outcome.entailed for outcome in outcomes)
    counts = np.array([outcome[1:6] for outcome in outcomes], np.int64).reshape(-1, 5)
    queries, accepted, review, second, mirrored = counts.sum(axis=0).tolist()
    without = [
        last_part(found.vocabulary.relation(outcome.relation))
        for outcome in outcomes
        if not outcome.accepts
    ]
    lines = [
        f"{queries:,} queries about {counted(len(outcomes), 'relation')}: "
        f"{counted(accepted, 'fact')} accepted{_as_guesses(entailed)}, {review:,} to review",
        f"left out as second answers: {second:,}; added as the other direction: {mirrored:,}",
    ]
    if found.reviewed is not None:
        return _reviewed_lines(found, found.reviewed)
    is_cut = len(found) < accepted + review + entailed
    if is_cut:
        lines[0] += (
            f"; of these, the surest are kept (--max-facts): {len(found.accepted):,} accepted, "
            f"{len(found.review):,} to review"
        )
    if found.rehearsed is not None:
        lines = [lines[0], *_rehearsal_lines(found, found.rehearsed, is_cut)]
    elif without:
        shown = ", ".join(without[:5]) + (", ..." if len(without) > 5 else "")
        why = "cannot promise" if found.promises else "no threshold"
        lines.append(f"{why}, so nothing accepted: {len(without):,} relations ({shown})")
    if found.rehearsed is None:
        lines += _doubtful_lines(found.guessed)
    if entailed:
        lines.append(
            f"entailed by the stated schema and known facts: {counted(entailed, 'fact')} more, no "
            f"guesses, so no estimate is about them; in files they are “{ENTAILED}” (--no-entailed "
            "leaves them out)"
        )
    if reasons := found.refused.counts():
        each = ", ".join(f"{reason} {number:,}" for reason, number in reasons.items())
        lines.append(f"refused, because they contradict the stated schema: {each}")
    return lines


def contents(facts: NewFacts) -> str:
    """What is to be said of a file behind its name: that it is empty, or has entailed facts."""
    if not len(facts):
        return " (empty: there are none)"
    if not (entailed := int(facts.entailed.sum())):
        return ""
    return f" ({len(facts) - entailed:,} accepted as guesses, {entailed:,} entailed)"


def _as_guesses(entailed: int) -> str:
    """Beside entailed facts it is said that the others are guesses."""
    return " as guesses" if entailed else ""


def _reviewed_lines(found: Completion, reviewed: Reviewed) -> list[str]:
    """What is promised of the accepted facts, and what the promise rests on."""
    accepted = len(found.accepted)
    lines = [
        f"{reviewed.proposals:,} proposals, {reviewed.drawn:,} of them drawn at random and "
        f"labelled: {accepted:,} facts accepted, {len(found) - accepted:,} to review"
    ]
    if not accepted:
        return [*lines, "nothing can be promised yet; `assent review` says what it takes"]
    share, sure = f"{reviewed.precision:.0%}", f"confidence {reviewed.confidence:.0%}"
    about = "of them" if reviewed.relations is None else "of those of each relation"
    return [
        *lines,
        f"promise: at least {share} {about} are right, with {sure}, if the labels are right",
    ]


def _doubtful_lines(accepted: NewFacts) -> list[str]:
    """A warning where thresholds of valid accepted facts that are probably wrong."""
    doubtful = int((accepted.probabilities < 0.5).sum())
    if not doubtful:
        return []
    return [
        f"of the accepted facts, {doubtful:,} are less probable than .5; --precision accepts by "
        "one probability, and estimates what share is right"
    ]


def _rehearsal_lines(found: Completion, rehearsed: Rehearsed, is_cut: bool) -> list[str]:
    """What share of the accepted facts is right, by estimate, and what the estimate rests on.

    Where some of them are cut off (`is_cut`), the estimate is about those that are kept.
    """
    held_out = sum(outcome.held_out for outcome in found.outcomes)
    again = sum(outcome.found for outcome in found.outcomes)
    lines = [f"rehearsal: of {held_out:,} facts that were held out, {again:,} were accepted again"]
    accepted, kept = found.guessed, "kept" if is_cut else "accepted"
    if len(accepted):
        share = at_least(accepted.probabilities.mean())
        wanted, least = at_least(rehearsed.precision), accepted.probabilities.min()
        least = probability_text(float(least), 2)
        lines.append(
            f"right, by estimate: at least {share} of the {kept} facts, and at least {wanted} of "
            f"those of each relation; the least probable has {least}"
        )
        if not again:
            lines.append("no held-out fact was found again: read these facts before adding them")
        elif borrowed := sum(out.accepted for out in found.outcomes if out.held_out < FEW):
            those = "all that are accepted" if is_cut else "them"
            lines.append(
                f"of relations with fewer than {FEW} held-out facts: {borrowed:,} of {those}; "
                "their estimate is that of the other relations"
            )
    else:
        share = at_least(rehearsed.precision)
        facts = "guesses" if len(found.accepted) else "facts"
        lines.append(f"no {facts} are so probable that {share} of them are right")
    return [*lines, rehearsed.assumption, *_nothing_lines(found), *_more_lines(found)]


def _nothing_lines(found: Completion) -> list[str]:
    """The relations that got nothing, and why."""
    without = [outcome for outcome in found.outcomes if not outcome.accepted]
    whole = [outcome for outcome in without if outcome.lacks < HARDLY]
    unsure = [outcome for outcome in without if not outcome.lacks < HARDLY]
    lines = []
    for why, some in (
        (f"by estimate less than {HARDLY:.0%} of the facts are missing there", whole),
        ("no candidate is sure enough", unsure),
    ):
        if some:
            names = [last_part(found.vocabulary.relation(one.relation)) for one in some]
            shown = ", ".join(names[:NAMED]) + (", ..." if len(names) > NAMED else "")
            many = counted(len(some), "relation")
            lines.append(f"nothing accepted of {many}, as {why}: {shown}")
    return lines


def _more_lines(found: Completion) -> list[str]:
    """What else there is to do where fewer facts are accepted than wait to be reviewed."""
    if len(found.review) <= len(found.guessed):
        return []
    return [
        "people can tell what else is right: `assent review` turns their decisions into a promise"
    ]


def facts_in_words(facts: NewFacts, most: int = 10) -> Iterator[str]:
    """Some of the facts, each relation in turn, the most probable first.

    Two lines each: the fact, and the rule that speaks for it most.
    """
    names = facts.vocabulary
    in_turn = np.lexsort((-facts.probabilities, places_in_relation(facts)))
    for place in in_turn[:most].tolist():
        fact = in_words(facts.facts[place].tolist(), names)
        yield f"  {fact}   ({probability_text(float(facts.probabilities[place]), 2)})"
        if facts.by_similarity(place):
            yield "      by similarity alone: no rule speaks for it"
        else:
            yield f"      {facts.reasons(place)[0].sentence}"


def places_in_relation(facts: NewFacts) -> Keys:  # (fact,)
    """0 for the most probable fact of its relation, 1 for the next; of equal ones the earlier."""
    relations = facts.facts[:, 1]
    falling = np.lexsort((-facts.probabilities, relations))
    starts = np.searchsorted(relations[falling], relations[falling])
    places = np.empty(len(facts), np.int64)
    places[falling] = np.arange(len(facts)) - starts
    return places


def in_words(fact: Sequence[int], names: Vocabulary) -> str:
    """A fact as a sentence, its names not too long."""
    head, tail = names.entity(fact[0]), names.entity(fact[2])
    between, after = around_tail(names.relation(fact[1]), tail)
    return " ".join(map(clipped, filter(None, (head, between, tail, after))))


# What the table of a completion says of each relation, by how it was decided about.
_ASKED: Columns = {
    "queries": lambda outcome: count(outcome.queries),
    "accepted": lambda outcome: count(outcome.accepted),
    "to review": lambda outcome: count(outcome.review),
    "second answers": lambda outcome: count(outcome.second),
    "against schema": lambda outcome: count(sum(outcome.refused.counts().values())),
}
ENTAILED_TOO: Columns = {ENTAILED: lambda outcome: count(outcome.entailed)}
GUESSED = {"accepted": "accepted as guesses"}  # headings beside that of entailed facts
DECIDED_BY_QUERY: Columns = {**_ASKED, "mirrored": lambda outcome: count(outcome.mirrored)}
DECIDED_BY_PEOPLE: Columns = {name: _ASKED[name] for name in ("accepted", "to review")}
DECIDED_BY_FACT: Columns = {
    **_ASKED,
    "right, by estimate": lambda outcome: probability(outcome.expected),
    "lacks": lambda outcome: probability(outcome.lacks),
    "held out": lambda outcome: count(outcome.held_out),
    "found again": lambda outcome: count(outcome.found),
}
