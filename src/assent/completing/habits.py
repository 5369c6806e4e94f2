"""What the graph's relations are like: one answer only, the same both ways; and kept so."""

from dataclasses import dataclass
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
    """Slots whose questions have one answer, relations whose facts hold in both directions."""

    functional: Mask  # (slot,)
    symmetric: Mask  # (relation,)

    @classmethod
    def learned(cls, known: Queries, num_entities: int, num_relations: int) -> Self:
        """From all known facts, asked from both ends."""
        size = 2 * num_relations
        questions = np.bincount(known.relations, minlength=size)
        single = np.bincount(known.relations[known.num_answers == 1], minlength=size)
        functional = (questions >= FEWEST) & (single >= ONE_ANSWER * questions)
        facts = known.take(known.relations < num_relations).facts(num_relations)
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
        return cls(frozen(functional, np.bool_), frozen(symmetric, np.bool_))

    @classmethod
    def none(cls, num_relations: int) -> Self:
        nothing = np.zeros(2 * num_relations)
        return cls(frozen(nothing, np.bool_), frozen(nothing[:num_relations], np.bool_))


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
