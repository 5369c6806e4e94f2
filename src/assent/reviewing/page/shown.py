"""What the page shows of the nouns of a review: plain texts and numbers, ready for JSON."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from assent.core.legible import legible as legible_text
from assent.core.vocabulary import last_part
from assent.reviewing.cards import Card, End, Told
from assent.reviewing.labels import RIGHT, SKIP, UNKNOWN, WRONG, Disagreement, Label
from assent.reviewing.session import Preview, Review
from assent.reviewing.worth import Progress, Promised, Reviewer

LONGEST = 300  # letters of a name: names come from users' graphs
LONGEST_SENTENCE = 1_000
LONGEST_IRI = 2_000
MOST_DISAGREEMENTS = 20  # that are listed
FEWEST_PLANTED = 5  # facts decided about, before it is said how many of them rightly


class Action(NamedTuple):
    """Something a reviewer can do with a fact: a button and a key."""

    name: str  # a verdict, or what else it does
    label: str
    past: str  # what was done, afterwards
    kind: str  # verdict or other
    key: str  # at first; people may choose another


class Order(NamedTuple):
    """A way of choosing the next fact."""

    name: str
    label: str
    note: str


ACTIONS = (
    Action(RIGHT, "Accept", "Accepted", "verdict", "a"),
    Action(WRONG, "Reject", "Rejected", "verdict", "r"),
    Action(UNKNOWN, "Don't know", "Don't know", "verdict", "d"),
    Action(SKIP, "Skip", "Skipped", "verdict", "s"),
    Action("undo", "Undo", "Undone", "other", "u"),
    Action("note", "Note", "Noted", "other", "n"),
)
PAST = {action.name: action.past for action in ACTIONS}
ORDERS = (
    Order("drawn", "drawn at random", "Only these buy a promise."),
    Order("probable", "the most probable first", "Good for adding facts; buys no promise."),
    Order("teaches", "what teaches most", "The model is least sure of these; buys no promise."),
)
WHY = {
    "drawn": "Drawn at random: counts towards a promise",
    "probable": "The most probable of those left",
    "teaches": "The model is least sure of these",
}


def legible(name: str, longest: int = LONGEST) -> str:
    """A name as it may be shown: not too long, and no letter in it that hides or turns others.

    Control characters, those that reverse the direction of text and other invisible ones stand
    there by their numbers.
    """
    cut = name[:longest]
    text = legible_text(cut)
    return text if cut == name else f"{text}… ({len(name):,} letters)"


class Reading:
    """Shows the nouns of one review."""

    def __init__(self, review: Review) -> None:
        self.review = review

    def card(self, given: Card) -> dict[str, Any]:
        """A fact with all that helps to decide about it."""
        fact = given.fact
        ends = (
            (fact.head, given.about_head, given.num_about_head),
            (fact.tail, given.about_tail, given.num_about_tail),
        )
        return {
            "proposal": given.key,
            "order": given.order,
            "why": WHY[given.order],
            "head": end(fact.head),
            "relation": {**end(fact.relation), "between": legible(fact.between)},
            "tail": end(fact.tail),
            "after": legible(fact.after),
            "words": in_words(fact),
            "probability": given.probability,
            "percent": percent(given.probability),
            "recalibrated": recalibrated(given),
            **self.evidence(given),
            "about": [
                {
                    **end(one),
                    "facts": [{"words": in_words(fact)} for fact in facts],
                    "more": f"and {number - len(facts):,} more" if number > len(facts) else "",
                }
                for one, facts, number in ends[: 1 if fact.head == fact.tail else 2]
            ],
        }

    def evidence(self, given: Card) -> dict[str, list[dict[str, str]]]:
        """What speaks for a fact, and what against it: sentences."""
        sides = {"for": given.row["evidence"], "against": given.row["against"]}
        return {
            side: [{"words": legible(one["sentence"], LONGEST_SENTENCE)} for one in reasons]
            for side, reasons in sides.items()
        }

    def recent(self, labels: Sequence[Label]) -> list[dict[str, Any]]:
        """Decisions that can still be changed, and who says something else."""
        others = {found.proposal: found for found in self.review.labels.disagreements()}
        return [
            {
                "id": label.id,
                "proposal": label.proposal,
                "words": self.words(label.proposal),
                "verdict": label.verdict,
                "note": legible(label.note),
                "when": _ago(time.time() - label.time),
                "others": _others(others.get(label.proposal), label.reviewer),
            }
            for label in labels
        ]

    def progress(self, reviewer: str) -> dict[str, Any]:
        """How far it is, what is promised, who did what, and where people disagree."""
        review = self.review
        found = review.progress(review.precision, review.confidence)
        total = found.done + found.left
        mine = next((one for one in found.reviewers if one.name == reviewer), None)
        labels = review.relation_labels()
        held = [one for one in (found.graph, *found.relations) if one.facts]
        return {
            "done": found.done,
            "total": total,
            "counts": f"{found.done:,} of {total:,} decided",
            "pace": f"{mine.a_minute:.0f} a minute" if mine and mine.a_minute else "",
            "aim": (
                f"At least {percent(review.precision)} right, with {percent(review.confidence)} "
                f"confidence, by {found.drawn:,} facts drawn at random:"
            ),
            "promises": [
                {
                    "facts": _facts(one.facts),
                    "words": f"{_where(one, labels)}, of {one.proposals:,} proposed",
                }
                for one in held
            ],
            "next": _next_steps(found, labels),
            "reviewers": [{"name": one.name, "words": did(one)} for one in found.reviewers],
            "disagreements": [
                {
                    "proposal": one.proposal,
                    "words": self.words(one.proposal),
                    "said": ", ".join(f"{who}: {PAST[said]}" for who, said in one.verdicts.items()),
                }
                for one in review.labels.disagreements()[:MOST_DISAGREEMENTS]
            ],
        }

    def words(self, key: str) -> str:
        """A proposal, by its key, as people read it."""
        return in_words(self.review.told(key))


def relations(review: Review) -> list[dict[str, Any]]:
    """The relations that have proposals, the one with the most first."""
    facts = review.proposals.facts
    numbers = np.bincount(facts.facts[:, 1], minlength=facts.vocabulary.num_relations)
    return [
        {
            "name": facts.vocabulary.relations[relation],
            "label": legible(last_part(facts.vocabulary.relation(relation))),
            "count": int(numbers[relation]),
        }
        for relation in np.argsort(-numbers, kind="stable").tolist()
        if numbers[relation]
    ]


def _next_steps(found: Progress, labels: Mapping[str, str]) -> list[dict[str, str]]:
    """What more decisions would buy."""
    if found.pilot_left:
        left = f"{_facts(found.pilot_left, 'more ')} drawn at random"
        return [{"words": f"{left}, and it can be said how many checks the first promise takes."}]
    steps = []
    for one in (found.graph, found.next_relation):
        if one is not None and one.checks:
            gains = _facts(one.gains, "more " if one.facts else "")
            checks = f"About {one.checks:,} more check{'' if one.checks == 1 else 's'}"
            steps.append({"words": f"{checks} would buy {gains} {_where(one, labels)}."})
    return steps


def _facts(number: int, which: str = "") -> str:
    return f"{number:,} {which}fact{'' if number == 1 else 's'}"


def _where(one: Promised, labels: Mapping[str, str]) -> str:
    """What a promise is about."""
    if one.relation is None:
        return "of the whole graph"
    return f"of \u201c{legible(one.about(labels))}\u201d"


def did(one: Reviewer) -> str:
    """What one person did, and how well they did on facts that are known.

    Of few such facts nothing is said: it would tell which ones they were.
    """
    words = f"{one.decided:,} decisions"
    if one.planted >= FEWEST_PLANTED:
        words += f"; right about {one.planted_right} of {one.planted} that are known"
    return words


def preview(found: Preview) -> dict[str, Any]:
    """How many facts a batch would decide about, and some of them."""
    shown = len(found.examples)
    some = "" if shown == found.size else f" The first {shown}:"
    return {
        "count": found.size,
        "words": f"{found.size:,} facts fit that nobody has decided about.{some}",
        "examples": [
            f"{in_words(one.fact)}  ({percent(one.probability)})" for one in found.examples
        ],
    }


def in_words(fact: Told) -> str:
    """A fact as one sentence."""
    parts = (fact.head.label, fact.between, fact.tail.label, fact.after)
    return " ".join(map(legible, filter(None, parts)))


def recalibrated(card: Card) -> str:
    """That labels changed the probability, and what it was before; empty: none did."""
    if not card.recalibrated_by:
        return ""
    labels = f"{card.recalibrated_by:,} label{'' if card.recalibrated_by == 1 else 's'}"
    return f"recalibrated by {labels}; {percent(card.probability_before)} before"


def percent(value: float) -> str:
    """A probability; 0 % and 100 % only where it is just that."""
    if 0 < value < 0.005:
        return "<\u00a01\u00a0%"
    if 0.995 <= value < 1:
        return ">\u00a099\u00a0%"
    return f"{100 * value:.0f}\u00a0%"


def end(given: End) -> dict[str, str]:
    """A name as it is read, and its address if it has one."""
    iri = given.iri or ""
    return {"label": legible(given.label), "iri": iri if len(iri) <= LONGEST_IRI else ""}


def _others(found: Disagreement | None, reviewer: str) -> str:
    """What other people say about the same fact."""
    if found is None:
        return ""
    said = (
        f"{name}: {PAST[verdict]}" for name, verdict in found.verdicts.items() if name != reviewer
    )
    return "; ".join(said)


def _ago(seconds: float) -> str:
    """How long ago, in words."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"
