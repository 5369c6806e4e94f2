"""Relation by relation: ask, score, decide, keep to the schema, look for evidence."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assent.completing.asking import Fitting, asked, entities_named, relations_named
from assent.completing.evidence import Chains, Links, evidence_for
from assent.completing.schema import Schema, both_or_neither, only_best
from assent.core.arrays import Ids, Keys, Mask, distinct, found_in, frozen, pair_keys
from assent.core.benchmark import Benchmark
from assent.core.decider import Decider
from assent.core.new_facts import HEAD, TAIL, Evidence, NewFacts
from assent.core.queries import Queries
from assent.core.scores import QueriesDone, Scorer, Scores
from assent.core.shortlist import Shortlist
from assent.core.vocabulary import Vocabulary
from assent.deciding.shortlisting import Above
from assent.errors import ConfigError
from assent.files.facts import rows_of_facts, table_of
from assent.scoring import score

Stopping = Callable[[], bool]  # asked between blocks of queries: whether to stop
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be completed, and how."""

    relations: Sequence[str] | None = None  # None: all
    anchors: Sequence[str] | None = None  # None: all
    max_facts: int | None = None  # accepted at most, and to review at most; the most probable stay
    functional: bool = True  # a functional relation gets no second answer
    symmetric: bool = True  # a symmetric relation is completed in both directions
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
    accepts: bool  # whether one of its slots has a threshold that a score can exceed


@dataclass(frozen=True, slots=True, eq=False)
class Completion:
    """New facts, accepted and to review. Iterating gives one dictionary a fact."""

    facts: NewFacts
    outcomes: tuple[Outcome, ...]  # of the relations that were finished
    relations: int  # how many relations were to be completed
    promises: bool  # whether relations accept nothing because they cannot promise a precision

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


class Completing:
    """A scorer and a decider at work on the graph of a benchmark."""

    def __init__(
        self, benchmark: Benchmark, scorer: Scorer, decider: Decider, wanted: Wanted
    ) -> None:
        self.names = benchmark.vocabulary
        self.scorer, self.decider, self.wanted = scorer, decider, wanted
        self.known = benchmark.truth()
        forward = self.known.relations < self.names.num_relations
        self.facts = self.known.take(forward).facts(self.names.num_relations)
        self.schema = Schema.learned(self.known, self.names).only(
            wanted.functional, wanted.symmetric
        )
        self.floors = decider.floors_for(wanted.least_probability)
        self.fitting = Fitting(benchmark, self.facts)
        self.relations = relations_named(wanted.relations, self.names)
        self.about = entities_named(wanted.anchors, self.names)

    @cached_property
    def chains(self) -> Chains:
        return Chains(Links(self.facts, self.names))

    def result(self, progress: QueriesDone, stopping: Stopping) -> Completion:
        """The new facts of all relations, or of those finished when `stopping` said to stop."""
        most, parts, outcomes = self.wanted.max_facts, list[NewFacts](), list[Outcome]()
        for outcome, facts in self.run(progress, stopping):
            outcomes.append(outcome)
            parts.append(facts)
            if most is not None and sum(map(len, parts)) > 4 * most:
                # One more than wanted: whether a fact and its reverse both fit shows at the end.
                parts = [most_probable(NewFacts.joined(parts, self.names), most + 1)]
        facts = NewFacts.joined(parts, self.names)
        if most is not None:
            facts = most_probable(facts, most, self.schema)
        promises = "promise" in self.decider.found
        return Completion(facts, tuple(outcomes), len(self.relations), promises)

    def run(self, progress: QueriesDone, stopping: Stopping) -> Iterator[tuple[Outcome, NewFacts]]:
        """What each relation gives; a relation that is stopped halfway gives nothing."""
        total = sum(len(self._asked(relation)[0]) for relation in self.relations)
        before = 0
        for relation in self.relations:
            queries, fits = self._asked(relation)
            above = Above(queries, self.floors, self.decider.needs_spread)
            for block in score(self.scorer, queries, self.known):
                above.add(block)
                progress(before + block.first + len(block.queries), total)
                if stopping():
                    return
            before += len(queries)
            shortlist = above.result()
            yield self._decided(relation, len(queries), shortlist, fits)

    def _asked(self, relation: int) -> tuple[Queries, tuple[Mask, Mask]]:
        """The queries about both slots of a relation, and which entities fit as head and as tail.

        Nothing is asked about a slot where nothing could be accepted or reviewed.
        """
        slots = self.names.slots_of(relation)
        heads, tails = (self.fitting.anchors(slot) for slot in slots)
        about = [
            fits & self.about & (self.floors.values[slot] < np.inf)
            for fits, slot in zip((heads, tails), slots, strict=True)
        ]
        return asked(slots, about), (heads, tails)

    def _decided(
        self, relation: int, num_queries: int, shortlist: Shortlist, fits: tuple[Mask, Mask]
    ) -> tuple[Outcome, NewFacts]:
        found = _Candidates.of(shortlist, self.decider, self.names)
        found = found.take(found.accepted | (found.probabilities >= self.wanted.least_probability))
        found = found.take(fits[0][found.heads] & fits[1][found.tails])
        if self.schema.irreflexive[relation]:
            found = found.take(found.heads != found.tails)
        known, before = self._known(relation), len(distinct(found.pairs()))
        symmetric = bool(self.schema.symmetric[relation])
        if symmetric:
            found = found.with_reverses(known)
        facts = found.facts(relation, self.decider)
        mirrored, joined = len(facts) - before, len(facts)
        facts = only_best(facts, self._taken(relation, symmetric))
        if symmetric:
            facts = both_or_neither(facts, known)
        if len(facts):
            facts = replace(facts, evidence=evidence_for(facts.facts, self.chains))
        accepted = int(facts.accepted.sum())
        thresholds = self.decider.thresholds.values[list(self.names.slots_of(relation))]
        outcome = Outcome(
            relation,
            num_queries,
            accepted,
            len(facts) - accepted,
            joined - len(facts),
            mirrored,
            bool((thresholds < np.inf).any()),
        )
        return outcome, facts

    def _known(self, relation: int) -> Keys:  # (pair,)
        """The pair keys (head, tail) of a relation's known facts, ascending."""
        heads, _, tails = self.facts[self.facts[:, 1] == relation].T
        return np.sort(pair_keys(heads, tails, self.names.num_entities))

    def _taken(self, relation: int, symmetric: bool) -> tuple[Mask | None, Mask | None]:
        """Which heads and which tails may have one answer only, and have it already.

        None where any number of answers is right.
        """
        heads, _, tails = self.facts[self.facts[:, 1] == relation].T
        ends = [self._marked(heads), self._marked(tails)]
        if symmetric:
            ends = [ends[0] | ends[1]] * 2
        one_only = (bool(self.schema.functional[slot]) for slot in self.names.slots_of(relation))
        head, tail = (end if one else None for end, one in zip(ends, one_only, strict=True))
        return head, tail

    def _marked(self, entities: Ids) -> Mask:  # (entity,)
        mask = np.zeros(self.names.num_entities, bool)
        mask[entities] = True
        return mask


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    """Candidates of one relation as the queries found them: a fact may be there from both ends."""

    names: Vocabulary
    heads: Ids  # (candidate,)
    tails: Ids  # (candidate,)
    sides: Ids  # (candidate,)   TAIL or HEAD: which end was asked for
    slots: Ids  # (candidate,)   of the query
    scores: Scores  # (candidate,)  as the decider rescored them
    probabilities: Values  # (candidate,)
    accepted: Mask  # (candidate,)

    @classmethod
    def of(cls, shortlist: Shortlist, decider: Decider, names: Vocabulary) -> Self:
        """All candidates of a shortlist, decided by their own query alone."""
        slots, scores = shortlist.relations, decider.rescore(shortlist)
        anchors, entities = shortlist.queries.anchors[shortlist.rows], shortlist.entities
        asks_tail = slots < names.num_relations
        return cls(
            names,
            np.where(asks_tail, anchors, entities),
            np.where(asks_tail, entities, anchors),
            np.where(asks_tail, TAIL, HEAD).astype(np.int32),
            slots,
            scores,
            decider.probability(scores, slots),
            decider.thresholds.accept(scores, slots),
        )

    def take(self, mask: Mask) -> Self:
        return self._with(*(column[mask] for column in self._columns()))

    def with_reverses(self, known: Keys) -> Self:
        """These candidates and, for each of them, the candidate with head and tail exchanged.

        The reverse has the same score and probability: of a symmetric relation, asking for the
        tail of a fact is asking for the head of its reverse. Reverses that are `known` (pair keys
        of known facts) are left out.
        """
        heads, tails, sides, *rest = self._columns()
        reverse = self._with(tails, heads, TAIL + HEAD - sides, *rest)
        reverse = reverse.take(~found_in(known, reverse.pairs()))
        columns = zip(self._columns(), reverse._columns(), strict=True)
        return self._with(*(np.concatenate(pair) for pair in columns))

    def pairs(self) -> Keys:  # (candidate,)
        """The pair key (head, tail) of each candidate."""
        return pair_keys(self.heads, self.tails, self.names.num_entities)

    def facts(self, relation: int, decider: Decider) -> NewFacts:
        """Each fact once, ascending by head and tail, without evidence.

        A fact is accepted if one of its two queries accepts it. It has score, threshold and
        probability of the query that accepts it, or else of the one with the higher probability;
        where both accept it, also of the one with the higher probability.
        """
        pairs = self.pairs()
        order = np.lexsort((self.sides, -self.probabilities, ~self.accepted, pairs))
        starts = np.flatnonzero(np.diff(pairs[order], prepend=-1))
        best = order[starts]
        decided = np.repeat(self.accepted[best], np.diff(np.append(starts, len(order))))
        sides = np.where(self.accepted[order] == decided, self.sides[order], 0)
        heads, tails, slots = self.heads[best], self.tails[best], self.slots[best]
        return NewFacts(
            self.names,
            frozen(np.stack([heads, np.full_like(heads, relation), tails], axis=1)),
            frozen(self.accepted[best], np.bool_),
            frozen(self.probabilities[best], np.float64),
            frozen(self.scores[best], np.float32),
            frozen(decider.thresholds.values[slots], np.float64),
            frozen(decider.expected_precision[slots], np.float64),
            frozen(np.bitwise_or.reduceat(sides, starts) if len(starts) else []),
            Evidence.nothing(len(best)),
        )

    def _with(self, *columns: Any) -> Self:
        return type(self)(self.names, *columns)

    def _columns(self) -> tuple[NDArray[Any], ...]:
        """All but the names."""
        return (
            self.heads,
            self.tails,
            self.sides,
            self.slots,
            self.scores,
            self.probabilities,
            self.accepted,
        )


def most_probable(facts: NewFacts, most: int, schema: Schema | None = None) -> NewFacts:
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
