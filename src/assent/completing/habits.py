"""What the graph's relations are like: one answer, the same both ways, never to oneself."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from assent.core.arrays import Keys, Mask, found_in, frozen
from assent.core.completions import NewFacts
from assent.core.queries import Queries

FEWEST = 10  # questions, or facts, that a habit is learned from
ONE_ANSWER = 0.95  # of a slot's questions: then it is functional
BOTH_WAYS = 0.8  # of a relation's facts: then it is symmetric; graphs miss many of the reverses


@dataclass(frozen=True, slots=True, eq=False)
class Habits:
    """What the known facts of each relation, or of a direction of it, have in common."""

    functional: Mask  # (slot,)      its questions have one answer
    symmetric: Mask  # (relation,)   its facts hold in both directions
    apart: Mask  # (relation,)       it joins no entity to itself

    @classmethod
    def learned(cls, known: Queries, num_entities: int, num_relations: int) -> Self:
        """From all known facts, asked from both ends."""
        size = 2 * num_relations
        questions = np.bincount(known.relations, minlength=size)
        single = np.bincount(known.relations[known.num_answers == 1], minlength=size)
        functional = (questions >= FEWEST) & (single >= ONE_ANSWER * questions)
        facts = known.take(known.relations < num_relations).facts(num_relations)
        apart = np.bincount(facts[:, 1], minlength=num_relations) >= FEWEST
        apart[facts[facts[:, 0] == facts[:, 2], 1]] = False
        facts = facts[facts[:, 0] != facts[:, 2]].astype(np.int64)
        heads, relations, tails = facts.T
        keys = (relations * num_entities + heads) * num_entities + tails
        reverse = (relations * num_entities + tails) * num_entities + heads
        there = np.bincount(relations, minlength=num_relations)
        both = np.bincount(relations[found_in(np.sort(keys), reverse)], minlength=num_relations)
        symmetric = (there >= FEWEST) & (both >= BOTH_WAYS * there)
        # Where both ends mean the same, so do both slots.
        alike = np.tile(symmetric, 2)
        functional &= ~alike | np.roll(functional, num_relations)
        return cls(*(frozen(found, np.bool_) for found in (functional, symmetric, apart)))

    def only(self, functional: bool, symmetric: bool) -> Self:
        """Some of them switched off."""
        return replace(
            self,
            functional=frozen(self.functional & functional, np.bool_),
            symmetric=frozen(self.symmetric & symmetric, np.bool_),
        )


def only_best(facts: NewFacts, taken: tuple[Mask | None, Mask | None]) -> NewFacts:
    """At most one fact of each head and of each tail that may have one only, the surest first.

    `taken` (entity,): which heads have a known tail already, and which tails a known head; None
    where any number is right. An accepted fact goes before one to review.
    """
    if all(mask is None for mask in taken):
        return facts
    used = [None if mask is None else mask.copy() for mask in taken]
    pairs = np.sort(facts.facts[:, [0, 2]], axis=1)  # a fact and its reverse come together
    order = np.lexsort((*pairs.T[::-1], -facts.probabilities, ~facts.accepted))
    kept = np.zeros(len(facts), bool)
    for place in order.tolist():
        ends = facts.facts[place, [0, 2]].tolist()
        if any(mask is not None and mask[end] for mask, end in zip(used, ends, strict=True)):
            continue
        kept[place] = True
        for mask, end in zip(used, ends, strict=True):
            if mask is not None:
                mask[end] = True
    return facts.take(kept)


def both_or_neither(facts: NewFacts, known: Keys, num_entities: int) -> NewFacts:
    """Without those whose reverse is neither here nor among the `known` pairs."""
    heads, _, tails = facts.facts.astype(np.int64).T
    there = np.sort(np.concatenate([known, heads * num_entities + tails]))
    return facts.take(found_in(there, tails * num_entities + heads))
