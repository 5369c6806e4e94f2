"""The ground that every way of deciding stands on: all that is known before anything is asked."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from assent.completing.asking import Fitting, entities_named, relations_named
from assent.completing.completing import Wanted
from assent.completing.entailing import Entailed, entailed
from assent.completing.evidence import MOST, Explainer, SeenBy
from assent.completing.law import Law
from assent.completing.schema import Habits, Links, never_together
from assent.core.arrays import Ids, Keys, Mask, pair_keys
from assent.core.benchmark import Benchmark
from assent.core.new_facts import STATED, Evidence, NewFacts, Reason
from assent.errors import DataError


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
        building removed. None in place of a mask (entity,): any number of answers is right.
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
