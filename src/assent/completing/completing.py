"""What completing takes and gives."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl

from assent.completing.refusing import Refused
from assent.completing.schema import Habits
from assent.core.considered import Considered
from assent.core.new_facts import DECISIONS, NewFacts
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError
from assent.files.fact_rows import rows_of_facts, table_of

Stopping = Callable[[], bool]  # asked between blocks of queries: whether to stop
Telling = Callable[[str], None]  # told which work begins, in words


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be completed, and how."""

    relations: Sequence[str] | None = None  # None: all
    anchors: Sequence[str] | None = None  # None: all
    max_facts: int | None = None  # accepted at most, and to review at most; the most probable stay
    functional: bool = True  # a functional relation gets no second answer
    symmetric: bool = True  # a symmetric relation is completed in both directions
    entailed: bool = True  # what the stated schema entails from known facts is accepted
    review_above: float | None = None  # facts so probable go to a person; None: no facts do

    def __post_init__(self) -> None:
        if self.max_facts is not None and self.max_facts < 1:
            raise ConfigError(f"max_facts = {self.max_facts}; choose 1 or more")
        if self.review_above is not None and not 0 < self.review_above <= 1:
            raise ConfigError(
                f"review_above = {self.review_above:g}; choose more than 0, at most 1"
            )

    @property
    def least_probability(self) -> float:
        """Facts less probable than this are only kept if they are accepted."""
        return np.inf if self.review_above is None else self.review_above


class Outcome(NamedTuple):
    """What completing a relation came to."""

    relation: int
    queries: int
    accepted: int
    review: int
    second: int  # left out, because a functional relation has a known or a more probable answer
    mirrored: int  # added, because a symmetric relation also holds the other way round
    accepts: bool  # whether there is a score above which a fact of it is accepted
    refused: Refused  # left out, because they contradict the stated schema
    held_out: int = 0  # facts of valid and test; counted in a rehearsal only
    found: int = 0  # of these, accepted in the rehearsal
    expected: float = np.nan  # the share of accepted facts that are right, as estimated
    lacks: float = np.nan  # of all its facts, the share that is missing, as estimated
    entailed: int = 0  # not guessed, but entailed by the stated schema and known facts

    def without(self, refused: Refused) -> Self:
        """The outcome without the refused facts of its relation, which it then names as refused."""
        mine = refused.of_relation(self.relation)
        accepted = int(mine.facts.accepted.sum())
        return self._replace(
            accepted=self.accepted - accepted,
            review=self.review - len(mine.facts) + accepted,
            refused=Refused.joined([self.refused, mine], mine.facts.vocabulary),
        )


class Rehearsed(NamedTuple):
    """What a rehearsal says about all accepted facts together."""

    precision: float  # wanted
    missing: float  # facts missing for each one held out, by estimate, over all relations

    @property
    def assumption(self) -> str:
        """What the estimate rests on, in one sentence."""
        return (
            "The estimate holds if missing facts are as easy to find as those held out; by what "
            f"became of these, about {self.missing:.2g} facts are missing for each one held out."
        )


class Reviewed(NamedTuple):
    """What people's labels say about all accepted facts together."""

    precision: float  # promised
    confidence: float  # with which it is
    proposals: int  # that there are
    drawn: int  # of these, drawn at random and labelled
    right: int  # of these, looked at one by one and called right
    relations: int | None  # each of so many relations has a promise of its own; None: one for all
    reviewers: tuple[str, ...]  # whose labels they are


@dataclass(frozen=True, slots=True, eq=False)
class Completion:
    """New facts, accepted and to review. Iterating gives one dictionary a fact."""

    facts: NewFacts
    outcomes: tuple[Outcome, ...]  # of the relations that were finished
    relations: int  # how many relations were to be completed
    promises: bool  # whether relations accept nothing because they cannot promise a precision
    rehearsed: Rehearsed | None = None  # where facts were decided about by a rehearsal
    considered: Considered | None = None  # by a rehearsal of all queries: every candidate
    reviewed: Reviewed | None = None  # where people's labels decided
    # The facts that people called right (head, relation, tail), and who did.
    confirmed_by: Mapping[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)

    def __repr__(self) -> str:
        made = self.facts.decisions.tolist()
        return f"Completion({', '.join(f'{made.count(one):,} {one}' for one in DECISIONS)})"

    @property
    def refused(self) -> Refused:
        """What was left out because it contradicts the stated schema."""
        return Refused.joined([outcome.refused for outcome in self.outcomes], self.vocabulary)

    @property
    def vocabulary(self) -> Vocabulary:
        return self.facts.vocabulary

    @property
    def finished(self) -> bool:
        return len(self.outcomes) == self.relations

    @property
    def accepted(self) -> NewFacts:
        """All that may enter the graph: accepted as guesses, or entailed."""
        return self.facts.take(self.facts.accepted)

    @property
    def guessed(self) -> NewFacts:
        """The accepted facts that an estimate or a promise is about: not those entailed."""
        return self.facts.take(self.facts.accepted & ~self.facts.entailed)

    @property
    def review(self) -> NewFacts:
        return self.facts.take(~self.facts.accepted)

    @property
    def table(self) -> pl.DataFrame:
        """One row a fact, by name; evidence as JSON text."""
        return table_of(self.facts)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return rows_of_facts(self.facts)

    def __len__(self) -> int:
        return len(self.facts)


def most_probable(facts: NewFacts, most: int, schema: Habits | None = None) -> NewFacts:
    """The `most` most probable accepted facts, and as many to review, in the order they came in.

    With a schema, a fact of a symmetric relation is dropped if there is no room for its reverse.
    """
    kept = np.zeros(len(facts), bool)
    heads, relations, tails = facts.facts.T
    low, high = np.minimum(heads, tails), np.maximum(heads, tails)
    falling = np.lexsort((high, low, relations, -facts.probabilities))
    for decision in (True, False):
        order = falling[facts.accepted[falling] == decision]
        first, last = order[:most], order[most : most + 1]
        if schema is not None and len(last) and schema.symmetric[relations[last[0]]]:
            reverse = facts.facts[last[0], ::-1]
            first = first[(facts.facts[first] != reverse).any(axis=1)]
        kept[first] = True
    return facts.take(kept)
