"""What the known facts show about each relation, and how new facts keep to it."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from assent.core.arrays import Ids, Keys, Mask, found_in, frozen, offsets_of, pair_keys, rows_of
from assent.core.new_facts import NewFacts
from assent.core.queries import Queries, both_ways
from assent.core.schema import Schema
from assent.core.vocabulary import Vocabulary

FEWEST = 10  # known queries or facts of a relation; from fewer nothing is learned
ONE_ANSWER = 0.95  # a slot is functional if this share of its queries has exactly one answer
ENOUGH = 30  # pairs of each of two slots that must be known before they can be told never to meet
BOTH_WAYS = 0.8  # a relation is symmetric if for this share of its facts the graph has the reverse


@dataclass(frozen=True, slots=True, eq=False)
class Habits:
    """Properties of relations, learned from the known facts, and stated ones."""

    functional: Mask  # (slot,)        a query about this slot has one answer
    symmetric: Mask  # (relation,)     where a fact holds, so does its reverse
    irreflexive: Mask  # (relation,)   no entity is joined to itself

    @classmethod
    def learned(cls, known: Queries, names: Vocabulary) -> Self:
        """From all known facts, as queries from both ends."""
        relations, slots = names.num_relations, names.num_slots
        queries = np.bincount(known.relations, minlength=slots)
        single = np.bincount(known.relations[known.num_answers == 1], minlength=slots)
        functional = (queries >= FEWEST) & (single >= ONE_ANSWER * queries)
        facts = known.take(known.relations < relations).facts(relations)
        irreflexive = np.bincount(facts[:, 1], minlength=relations) >= FEWEST
        irreflexive[facts[facts[:, 0] == facts[:, 2], 1]] = False
        symmetric = _symmetric(facts[facts[:, 0] != facts[:, 2]], names)
        # Both slots of a symmetric relation mean the same, so one of them is functional only if
        # the other one is.
        functional &= ~np.tile(symmetric, 2) | functional[names.inverse(np.arange(slots))]
        return cls(*(frozen(found, np.bool_) for found in (functional, symmetric, irreflexive)))

    def only(self, functional: bool, symmetric: bool) -> Self:
        """The same habits; a property that is given as False holds for no relation."""
        return replace(
            self,
            functional=frozen(self.functional & functional, np.bool_),
            symmetric=frozen(self.symmetric & symmetric, np.bool_),
        )

    def behind(self, stated: Schema, names: Vocabulary) -> Self:
        """The same habits where nothing is stated.

        A relation that is stated to be symmetric is so; one that is stated to have one answer is
        left to the law.
        """
        one, of_head, both = (
            np.isin(names.relations, stated.subjects(named))
            for named in ("functional", "inverseFunctional", "symmetric")
        )
        return replace(
            self,
            functional=frozen(self.functional & ~np.concatenate([one, of_head]), np.bool_),
            symmetric=frozen(self.symmetric | both, np.bool_),
        )


class Links:
    """The known facts between two different entities, listed at both of their ends."""

    def __init__(self, facts: Ids, names: Vocabulary) -> None:
        self.num_entities = names.num_entities
        different = facts[facts[:, 0] != facts[:, 2]]
        starts, slots, ends = both_ways(different, names.num_relations)
        pairs = pair_keys(starts, ends, names.num_entities)
        order = np.lexsort((slots, pairs))
        self.slots, self.pairs = slots[order], pairs[order]  # (link,)  ascending by pair

    def between(self, starts: Ids, ends: Ids) -> tuple[Keys, Ids]:
        """The slots that lead from starts[i] to ends[i]: i (hit,) and the slot (hit,)."""
        keys = pair_keys(starts, ends, self.num_entities)
        first = np.searchsorted(self.pairs, keys)
        offsets = offsets_of(np.searchsorted(self.pairs, keys, side="right") - first)
        rows = rows_of(offsets)
        return rows, self.slots[np.arange(offsets[-1]) - offsets[rows] + first[rows]]


def never_together(facts: Ids, names: Vocabulary, enough: int = ENOUGH) -> Mask:
    """For each slot and relation (slot, relation): whether no known pair is joined by both.

    `facts` (fact, 3) are the known ones. Slot s joins the pair (head, tail) if the tail answers
    (head, s, ?). Each of the two must join `enough` pairs: else that none has both says little.
    A relation never meets its own inverse slot if it never holds both ways.
    """
    starts, slots, ends = both_ways(facts[facts[:, 0] != facts[:, 2]], names.num_relations)
    pairs, rows = np.unique(pair_keys(starts, ends, names.num_entities), return_inverse=True)
    joined = csr_array(
        (np.ones(len(rows), np.int32), (rows, slots)), shape=(len(pairs), names.num_slots)
    )
    together = (joined.T @ joined).toarray()  # (slot, slot)
    known = np.diag(together) >= enough
    never: Mask = (together == 0) & known[:, None] & known
    return frozen(never[:, : names.num_relations], np.bool_)


def _symmetric(facts: Ids, names: Vocabulary) -> Mask:  # (relation,)
    """`facts` (fact, 3) join two different entities."""
    heads, relations, tails = facts.T
    entities, count = names.num_entities, names.num_relations
    keys = pair_keys(pair_keys(relations, heads, entities), tails, entities)
    reverse = pair_keys(pair_keys(relations, tails, entities), heads, entities)
    there = np.bincount(relations, minlength=count)
    both = np.bincount(relations[found_in(np.sort(keys), reverse)], minlength=count)
    symmetric: Mask = (there >= FEWEST) & (both >= BOTH_WAYS * there)
    return symmetric


def only_best(facts: NewFacts, taken: tuple[Mask | None, Mask | None]) -> NewFacts:
    """Keeps at most one fact of each head and of each tail that may have one answer only.

    `taken` are two masks (entity,): the heads that have a known tail, and the tails that have a
    known head; such an end gets no new fact. None instead of a mask: any number of answers is
    right. Facts are kept in this order: accepted ones first, then the more probable.
    """
    if all(mask is None for mask in taken):
        return facts
    used = [None if mask is None else mask.copy() for mask in taken]
    pairs = np.sort(facts.facts[:, [0, 2]], axis=1)  # a fact stands next to its reverse
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


def both_or_neither(facts: NewFacts, known: Keys) -> NewFacts:
    """Drops each fact whose reverse is neither one of these facts nor known.

    `known` are the pair keys (head, tail) of the relation's known facts.
    """
    heads, _, tails = facts.facts.T
    count = facts.vocabulary.num_entities
    there = np.sort(np.concatenate([known, pair_keys(heads, tails, count)]))
    return facts.take(found_in(there, pair_keys(tails, heads, count)))
