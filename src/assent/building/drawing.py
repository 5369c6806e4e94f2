"""Where the choices of building come from: random streams (recipe 1) or hashes of names (2).

Recipe 2 makes the same choices on every engine; `relational.py` says it again in SQL.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from assent.building.asking import Quota, deal_evenly
from assent.building.faking import fakes_by_hash, fakes_like
from assent.building.removing import hold_out, lowest_pairs
from assent.core.arrays import Ids, Keys, Mask, pair_keys
from assent.core.facts import KnowledgeBase, Split
from assent.core.hashing import hashes_of, lowest
from assent.core.queries import Queries, Subset
from assent.core.types import Types
from assent.core.vocabulary import SIDES, Vocabulary


class Draws(Protocol):
    """Makes every choice that building leaves open."""

    def held_out(self, kb: KnowledgeBase, share: float) -> Mask:  # (fact,)
        """Which facts are held out: valid and test where the graph has them, else a share."""

    def order(self) -> Keys:  # (entity,)
        """All entities in the order in which they would be removed."""

    def deal_facts(self, facts: Ids, ahead: bool = False) -> Keys:  # (fact,)
        """VALID or TEST for each fact, even within each relation; `ahead` of removing or not."""

    def deal(self, queries: Queries, what: str) -> Keys:  # (query,)
        """VALID or TEST for each query, even within each slot and subset."""

    def fakes(self, real: Queries, taken: Keys, types: Types, wanted: Quota) -> Queries:
        """Fakes, with anchors and slots as the real queries have them; `taken` have answers."""

    def some(self, queries: Queries, most: int) -> Queries:
        """At most so many of these queries."""


class Streams:
    """Recipe 1: a random stream for each step, over positions in arrays."""

    def __init__(self, kb: KnowledgeBase, seed: int) -> None:
        # A stream of its own for each step: an option of one leaves the choices of the others
        # alone.
        streams = np.random.default_rng(seed).spawn(5)
        self.holding, self.removing, self.dealing, self.faking, self.trimming = streams
        self.num_entities = kb.vocabulary.num_entities

    def held_out(self, kb: KnowledgeBase, share: float) -> Mask:  # (fact,)
        return hold_out(kb, share, self.holding)

    def order(self) -> Keys:  # (entity,)
        return self.removing.permutation(self.num_entities)

    def deal_facts(self, facts: Ids, ahead: bool = False) -> Keys:  # (fact,)
        return deal_evenly(facts[:, 1], self.removing if ahead else self.dealing)

    def deal(self, queries: Queries, what: str) -> Keys:  # (query,)
        groups = pair_keys(queries.relations, queries.subsets, len(Subset))
        return deal_evenly(groups, self.dealing)

    def fakes(self, real: Queries, taken: Keys, types: Types, wanted: Quota) -> Queries:
        return fakes_like(real, taken, types, wanted, self.faking)

    def some(self, queries: Queries, most: int) -> Queries:
        return queries.take(self.trimming.permutation(len(queries))[:most])


class Hashes:
    """Recipe 2: hashes of names and the seed. Those of pairs and queries are made from theirs."""

    def __init__(self, kb: KnowledgeBase, seed: int) -> None:
        self.seed, self.num_entities = seed, kb.vocabulary.num_entities
        self.entities = entity_hashes(kb.vocabulary, seed)
        self.slots = slot_hashes(kb.vocabulary, seed)

    def held_out(self, kb: KnowledgeBase, share: float) -> Mask:  # (fact,)
        if kb.has_splits:
            held: Mask = kb.splits != Split.TRAIN
            return held
        return lowest_pairs(kb.facts, self.of_pairs(kb.facts), share, kb.vocabulary)

    def order(self) -> Keys:  # (entity,)
        return np.argsort(self.entities, kind="stable")

    def deal_facts(self, facts: Ids, ahead: bool = False) -> Keys:  # (fact,)
        heads, relations, tails = facts.T
        order = np.lexsort((tails, heads, self.of_pairs(facts), relations))
        return alternating(order, coin(self.seed, "facts"))

    def deal(self, queries: Queries, what: str) -> Keys:  # (query,)
        hashes = self.of_queries(queries.relations, queries.anchors)
        order = np.lexsort((queries.anchors, hashes, queries.subsets, queries.relations))
        return alternating(order, coin(self.seed, what))

    def fakes(self, real: Queries, taken: Keys, types: Types, wanted: Quota) -> Queries:
        return fakes_by_hash(real, taken, types, wanted, self.seed, self.of_queries)

    def some(self, queries: Queries, most: int) -> Queries:
        return queries.take(lowest(self.of_queries(queries.relations, queries.anchors), most))

    def of_pairs(self, facts: Ids) -> Keys:  # (fact,)
        """A hash of the two entities of each fact, in whichever order they stand in it."""
        ends = self.entities[facts[:, [0, 2]]]
        rows = zip(ends.min(axis=1).tolist(), ends.max(axis=1).tolist(), strict=True)
        return hashes_of(f"{self.seed}/pair/{low}/{high}" for low, high in rows)

    def of_queries(self, slots: Ids | Keys, anchors: Ids | Keys) -> Keys:  # (query,)
        rows = zip(self.slots[slots].tolist(), self.entities[anchors].tolist(), strict=True)
        return hashes_of(f"{self.seed}/query/{slot}/{anchor}" for slot, anchor in rows)


def entity_hashes(vocabulary: Vocabulary, seed: int) -> Keys:  # (entity,)
    """The lowest are removed first."""
    return hashes_of(f"{seed}/entity/{name}" for name in vocabulary.entities)


def slot_hashes(vocabulary: Vocabulary, seed: int) -> Keys:  # (slot,)
    names = ((side, name) for side in SIDES for name in vocabulary.relations)
    return hashes_of(f"{seed}/slot/{side}/{name}" for side, name in names)


def coin(seed: int, what: str) -> int:
    """0 or 1: the split that the first item goes to."""
    return int(hashes_of([f"{seed}/coin/{what}"])[0] % 2)


def alternating(order: Keys, first: int) -> Keys:  # (item,)
    """Items in this order go to one split and the other in turn."""
    dealt = np.empty(len(order), dtype=np.int64)
    dealt[order] = (np.arange(len(order)) + first) % 2
    return dealt


RECIPES: dict[int, Callable[[KnowledgeBase, int], Draws]] = {1: Streams, 2: Hashes}


def recipe_names() -> list[str]:
    return [str(recipe) for recipe in RECIPES]
