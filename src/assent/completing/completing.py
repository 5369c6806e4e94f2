"""What completing takes and gives, and the ground that every way of deciding stands on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl

from assent.completing.asking import Fitting, entities_named, relations_named
from assent.completing.entailing import Entailed, entailed
from assent.completing.evidence import MOST, Explainer, SeenBy
from assent.completing.law import Law, Refused
from assent.completing.schema import Habits, Links, never_together
from assent.core.arrays import Ids, Keys, Mask, frozen, pair_keys
from assent.core.benchmark import Benchmark
from assent.core.considered import Considered
from assent.core.new_facts import HEAD, STATED, TAIL, Evidence, NewFacts, Reason
from assent.core.probabilities import FARTHEST
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError, DataError
from assent.files.facts import rows_of_facts, table_of

Stopping = Callable[[], bool]  # asked between blocks of queries: whether to stop


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
    threshold: float  # facts more probable than this are accepted; inf: none is
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
        accepted = int(self.facts.accepted.sum())
        return f"Completion({accepted:,} accepted, {len(self) - accepted:,} to review)"

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
        return self.facts.take(self.facts.accepted)

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


class Ground:
    """What is known before anything is asked: facts, habits, law, who fits, what explains facts.

    `vectors` gives the entities as the model sees them, where no rule speaks for a fact.
    """

    def __init__(
        self, benchmark: Benchmark, wanted: Wanted, vectors: SeenBy = lambda: None
    ) -> None:
        self.benchmark, self.wanted, self.names = benchmark, wanted, benchmark.vocabulary
        self.vectors = vectors
        self.known = benchmark.truth()
        forward = self.known.relations < self.names.num_relations
        self.facts = self.known.take(forward).facts(self.names.num_relations)  # (fact, 3)
        self.schema = (
            Habits.learned(self.known, self.names)
            .only(wanted.functional, wanted.symmetric)
            .behind(benchmark.schema, self.names)
        )
        self.lost = benchmark.lost  # (pair, 2)
        self.law = Law(
            benchmark.schema,
            benchmark.types,
            self.facts,
            self.names,
            self.schema.symmetric,
            self.lost,
        )
        self.fitting = Fitting(benchmark, self.facts)
        self.relations = relations_named(wanted.relations, self.names)
        self.about = self._asked_about(wanted.anchors)  # (entity,)

    @cached_property
    def links(self) -> Links:
        return Links(self.facts, self.names)

    @cached_property
    def explainer(self) -> Explainer:
        return Explainer(
            self.facts, self.names, self.benchmark.types, self.links, self.never, self.vectors
        )

    @cached_property
    def never(self) -> Mask:  # (slot, relation)
        return never_together(self.facts, self.names)

    def excluded(self, relation: int, heads: Ids, tails: Ids) -> Mask:  # (pair,)
        """Which pairs a known fact joins in a way in which no pair of the relation is joined.

        Who is married to someone is not their child, if no known pair is both.
        """
        rows, slots = self.links.between(heads, tails)
        excluded = np.zeros(len(heads), bool)
        excluded[rows[self.never[slots, relation]]] = True
        return excluded

    def known_pairs(self, relation: int) -> Keys:  # (pair,)
        """The pair keys (head, tail) of a relation's known facts, ascending."""
        heads, _, tails = self.facts[self.facts[:, 1] == relation].T
        return np.sort(pair_keys(heads, tails, self.names.num_entities))

    def taken(self, relation: int, facts: Ids | None = None) -> tuple[Mask | None, Mask | None]:
        """Which heads and which tails may have one answer only, and have it already.

        They have it in `facts` (fact, 3), or else in the known facts; or it is an entity that
        building removed. None instead of a mask
        (entity,): any number of answers is right.
        """
        facts = self.facts if facts is None else facts
        heads, _, tails = facts[facts[:, 1] == relation].T
        ends = [
            self._marked(np.concatenate([known, self.lost[self.lost[:, 1] == slot, 0]]))
            for known, slot in zip((heads, tails), self.names.slots_of(relation), strict=True)
        ]
        if self.schema.symmetric[relation]:
            ends = [ends[0] | ends[1]] * 2
        one_only = (bool(self.schema.functional[slot]) for slot in self.names.slots_of(relation))
        head, tail = (end if one else None for end, one in zip(ends, one_only, strict=True))
        return head, tail

    def answers(self, anchor: int, slot: int) -> list[int]:
        """The known answers to a query."""
        backwards, relation = divmod(slot, self.names.num_relations)
        mine = (self.facts[:, 1] == relation) & (self.facts[:, 2 * backwards] == anchor)
        found: list[int] = self.facts[mine, 2 - 2 * backwards].tolist()
        return found

    @cached_property
    def entailed(self) -> Entailed:
        """What the stated schema entails from the known facts."""
        return entailed(self.facts, self.benchmark.schema, self.names, self.law)

    @cached_property
    def certain(self) -> Ids:  # (fact, 3)
        """The known facts, and those that they entail."""
        more = self.entailed.facts
        return np.concatenate([self.facts, more]) if len(more) else self.facts

    def evidence_of(self, facts: Ids, most: int = MOST) -> Evidence:
        """What speaks for facts (fact, 3) of one relation and against them.

        For a fact that is entailed, what entails it.
        """
        stated = self.entailed.among(facts)
        guessed = iter(range(int((~stated).sum())))
        found = self.explainer.of(facts[~stated], most)
        return Evidence.of(
            [
                [self._stated(fact)] if is_stated else list(found.at(next(guessed)))
                for fact, is_stated in zip(facts, stated.tolist(), strict=True)
            ]
        )

    def _stated(self, fact: Ids) -> Reason:
        words = self.explainer.words
        return Reason(STATED, 1.0, 1, 1, self.entailed.why(fact, words.relation, words.told))

    def with_evidence(self, facts: NewFacts) -> NewFacts:
        """The same facts, all of one relation, with their evidence."""
        if not len(facts):
            return facts
        return replace(facts, evidence=self.evidence_of(facts.facts))

    def _asked_about(self, anchors: Sequence[str] | None) -> Mask:  # (entity,)
        """The entities with these names or labels; None: all."""
        if anchors is None:
            return np.ones(self.names.num_entities, bool)
        try:
            return self._marked(np.array(entities_named(anchors, self.names), np.int64))
        except DataError as error:
            hint = "an entity that `assent build` removed is asked about with --refit"
            raise DataError(f"{error}; {hint}") from error

    def _marked(self, entities: Ids | Keys) -> Mask:  # (entity,)
        mask = np.zeros(self.names.num_entities, bool)
        mask[entities] = True
        return mask


def with_entailed(found: Completion, ground: Ground) -> Completion:
    """A completion with all that the schema entails, accepted, apart from what was guessed."""
    facts, about = ground.entailed.facts, ground.about
    mine = np.isin(facts[:, 1], [outcome.relation for outcome in found.outcomes])
    facts = facts[mine & (about[facts[:, 0]] | about[facts[:, 2]])]
    again = ground.entailed.among(found.facts.facts)  # found query by query
    guessed, dropped = found.facts.take(~again), found.facts.take(again)
    outcomes, parts = list[Outcome](), [guessed]
    for outcome in found.outcomes:
        its = ground.with_evidence(certain(facts[facts[:, 1] == outcome.relation], ground.names))
        gone = dropped.accepted[dropped.facts[:, 1] == outcome.relation]
        outcomes.append(
            outcome._replace(
                entailed=len(its),
                accepted=outcome.accepted - int(gone.sum()),
                review=outcome.review - int((~gone).sum()),
            )
        )
        parts.append(its)
    decided = NewFacts.joined(parts, ground.names)
    if ground.wanted.max_facts is not None:
        decided = most_probable(decided, ground.wanted.max_facts, ground.schema)
    return replace(found, facts=decided, outcomes=tuple(outcomes))


def certain(facts: Ids, names: Vocabulary) -> NewFacts:
    """Facts that are certain: accepted whatever the threshold, and no part of any estimate."""
    size = len(facts)
    return NewFacts(
        names,
        frozen(facts),
        frozen(np.ones(size), np.bool_),
        frozen(np.ones(size), np.float64),
        frozen(np.full(size, FARTHEST), np.float32),
        frozen(np.full(size, -np.inf), np.float64),
        frozen(np.full(size, np.nan), np.float64),
        frozen(np.full(size, TAIL | HEAD)),
        Evidence.nothing(size),
    )


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
