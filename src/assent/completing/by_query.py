"""Deciding query by query: a fact is accepted if one of its two queries accepts it.

The decider was tuned on the queries of valid, and decides here about candidates of every query that
the graph may ask.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from assent.completing.asking import asked
from assent.completing.completing import Completion, Outcome, Stopping, most_probable
from assent.completing.ground import Ground
from assent.completing.refusing import Refused, contradicting, lawful
from assent.completing.schema import both_or_neither, only_best
from assent.core.arrays import Ids, Keys, Mask, distinct, found_in, frozen, pair_keys
from assent.core.decider import Decider
from assent.core.new_facts import HEAD, TAIL, Evidence, NewFacts
from assent.core.queries import Queries
from assent.core.scores import QueriesDone, Scorer, Scores
from assent.core.shortlist import Shortlist
from assent.core.vocabulary import Vocabulary
from assent.deciding.shortlisting import BYTES_OF_FACT, Above
from assent.scoring import score

Values = NDArray[np.float64]


class ByQuery:
    """A scorer and a decider at work, relation by relation."""

    def __init__(self, ground: Ground, scorer: Scorer, decider: Decider) -> None:
        self.ground, self.scorer, self.decider = ground, scorer, decider
        self.names, self.wanted = ground.names, ground.wanted
        self.floors = decider.floors_for(self.wanted.least_probability)

    def result(self, progress: QueriesDone, stopping: Stopping) -> Completion:
        """The new facts of all relations, or of those finished when `stopping` said to stop."""
        most, parts, outcomes = self.wanted.max_facts, list[NewFacts](), list[Outcome]()
        refused, law = list[Refused](), self.ground.law
        for outcome, facts in self.run(progress, stopping):
            outcomes.append(outcome)
            parts.append(facts)
            if most is not None and sum(map(len, parts)) > 4 * most:
                facts, against = lawful(NewFacts.joined(parts, self.names), law)
                refused.append(against)
                # One more than wanted: whether a fact and its reverse both fit shows at the end.
                parts = [most_probable(facts, most + 1)]
        facts, against = lawful(NewFacts.joined(parts, self.names), law)
        against = Refused.joined([*refused, against], self.names)
        if most is not None:
            facts = most_probable(facts, most, self.ground.schema)
        promises = "promise" in self.decider.found
        done = tuple(outcome.without(against) for outcome in outcomes)
        return Completion(facts, done, len(self.ground.relations), promises)

    def run(self, progress: QueriesDone, stopping: Stopping) -> Iterator[tuple[Outcome, NewFacts]]:
        """What each relation gives; a relation that is stopped halfway gives nothing."""
        total = sum(len(self._asked(relation)[0]) for relation in self.ground.relations)
        before = 0
        for relation in self.ground.relations:
            queries, fits = self._asked(relation)
            above = Above(queries, self.floors, self.decider.needs_spread, BYTES_OF_FACT)
            for block in score(self.scorer, queries, self.ground.known):
                above.add(block)
                progress(before + block.first + len(block.queries), total)
                if block.columns.any(stopping()):
                    return
            before += len(queries)
            yield self._decided(relation, len(queries), above.result(), fits)

    def _asked(self, relation: int) -> tuple[Queries, tuple[Mask, Mask]]:
        """The queries about both slots of a relation, and which entities fit as head and as tail.

        Nothing is asked about a slot where nothing could be accepted or reviewed.
        """
        slots = self.names.slots_of(relation)
        heads, tails = (self.ground.fitting.anchors(slot) for slot in slots)
        about = [
            fits & self.ground.about & (self.floors.values[slot] < np.inf)
            for fits, slot in zip((heads, tails), slots, strict=True)
        ]
        return asked(slots, about), (heads, tails)

    def _decided(
        self, relation: int, num_queries: int, shortlist: Shortlist, fits: tuple[Mask, Mask]
    ) -> tuple[Outcome, NewFacts]:
        found = _Candidates.of(shortlist, self.decider, self.names)
        found = found.take(found.accepted | (found.probabilities >= self.wanted.least_probability))
        fitting = fits[0][found.heads] & fits[1][found.tails]
        unfit = found.take(~fitting & found.accepted)  # by stated types, or by learned ones
        refused = contradicting(unfit.facts(relation, self.decider), self.ground.law)
        found = found.take(fitting)
        if self.ground.schema.irreflexive[relation]:
            found = found.take(found.heads != found.tails)
        known, before = self.ground.known_pairs(relation), len(distinct(found.pairs()))
        symmetric = bool(self.ground.schema.symmetric[relation])
        if symmetric:
            found = found.with_reverses(known)
        facts = found.facts(relation, self.decider)
        mirrored, joined = len(facts) - before, len(facts)
        facts = only_best(facts, self.ground.taken(relation))
        if symmetric:
            facts = both_or_neither(facts, known)
        facts = self.ground.with_evidence(facts)
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
            refused,
        )
        return outcome, facts


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
