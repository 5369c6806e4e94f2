"""What the train facts say about a candidate: its relation, how it fits there, other links."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assent.core.arrays import Ids, Keys, pair_keys, places_in, rows_of
from assent.core.benchmark import Benchmark
from assent.core.queries import Queries, both_ways
from assent.deciding.neighbours import Neighbours

LINKS = ("links", "implied")  # columns about other facts between anchor and entity
PRIOR = 2  # cases that are taken to speak against an implication before any is counted

Columns = dict[str, NDArray[Any]]  # name of a feature -> its values (candidate,)
Shares = NDArray[np.float64]


class Graph:
    """The train facts, each seen from both ends; answers of valid and test never come here.

    The entities that answer a slot are the anchors of its inverse.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self.names = benchmark.vocabulary
        self.num_entities, num_slots = self.names.num_entities, self.names.num_slots
        anchors, slots, entities = both_ways(benchmark.train, self.names.num_relations)
        self.known = Queries.grouped(anchors, slots, entities)
        self.degrees = np.bincount(anchors, minlength=self.num_entities)
        self.slot_facts = np.bincount(slots, minlength=num_slots)
        self.slot_anchors = np.bincount(self.known.relations, minlength=num_slots)
        self.fit = SlotFit(anchors, slots, self.num_entities, num_slots)
        self.neighbours = Neighbours(anchors, entities, self.num_entities)
        self._link(anchors, slots, entities)

    def _link(self, anchors: Ids, slots: Ids, entities: Ids) -> None:
        """Finds which slots connect each two entities, and how often one slot implies another."""
        keys = pair_keys(anchors, entities, self.num_entities)
        order = np.argsort(keys, kind="stable")
        self.pairs, starts = np.unique(keys[order], return_index=True)
        self.pair_offsets = np.append(starts, len(keys)).astype(np.int64)
        self.pair_slots = slots[order]
        stands = csr_array(
            (np.ones(len(keys)), self.pair_slots, self.pair_offsets),
            shape=(len(self.pairs), self.names.num_slots),
        )
        self.implies = following(stands)

    def columns(self, anchors: Ids, slots: Ids, entities: Ids) -> Columns:
        """The features of each candidate, given by its anchor, slot and entity."""
        inverse = self.names.inverse(slots)
        answers_each = self.slot_facts / np.maximum(self.slot_anchors, 1)
        seen = self._known(entities, inverse)
        anchor_fits, anchor_fits_mean = self.fit.shares(anchors, slots)
        entity_fits, entity_fits_mean = self.fit.shares(entities, inverse)
        shared, shared_weight = self.neighbours.shared(anchors, entities)
        links, implied = self._links(anchors, slots, entities)
        return {
            "known": self._known(anchors, slots),
            "relation_facts": self.slot_facts[slots],
            "relation_answers": self.slot_anchors[inverse],
            "answers_a_query": answers_each[slots],
            "inverse_answers_a_query": answers_each[inverse],
            "entity_seen": seen,
            "entity_share": seen / np.maximum(self.slot_anchors[slots], 1),
            "anchor_degree": self.degrees[anchors],
            "entity_degree": self.degrees[entities],
            "anchor_fits": anchor_fits,
            "anchor_fits_mean": anchor_fits_mean,
            "entity_fits": entity_fits,
            "entity_fits_mean": entity_fits_mean,
            "shared": shared,
            "shared_weight": shared_weight,
            "links": links,
            "implied": implied,
        }

    def _known(self, anchors: Ids, slots: Ids) -> Keys:
        """How many answers train has to each query (anchor, slot, ?)."""
        mine = self.known.keys(self.num_entities)
        places, there = _found(mine, pair_keys(slots, anchors, self.num_entities))
        counts = np.zeros(len(anchors), np.int64)
        counts[there] = self.known.num_answers[places]
        return counts

    def _links(self, anchors: Ids, slots: Ids, entities: Ids) -> tuple[Keys, Shares]:
        """How many train facts join anchor and entity, and the highest share among them.

        The share of a joining slot: of the pairs that it joins, how many the slot asked about
        joins too.
        """
        places, there = _found(self.pairs, pair_keys(anchors, entities, self.num_entities))
        counts = np.diff(self.pair_offsets)[places]
        links = np.zeros(len(anchors), np.int64)
        links[there] = counts
        others = self.pair_slots[places_in(self.pair_offsets, places)]
        rows = there[rows_of(np.append(0, np.cumsum(counts)))]
        implied = np.zeros(len(anchors))
        np.maximum.at(implied, rows, self.implies[others, slots[rows]])
        return links, implied


class SlotFit:
    """How well an entity fits a slot as its anchor, judged by the other slots it is an anchor of.

    Who answers a slot is an anchor of its inverse, so answers are judged in the same way.
    """

    def __init__(self, anchors: Ids, slots: Ids, num_entities: int, num_slots: int) -> None:
        stands = csr_array(
            (np.ones(len(anchors)), (anchors, slots)), shape=(num_entities, num_slots)
        )
        stands.sum_duplicates()
        stands.data[:] = 1
        self.follows = following(stands)
        self.offsets, self.slots = stands.indptr.astype(np.int64), stands.indices

    def shares(self, entities: Ids, slots: Ids) -> tuple[Shares, Shares]:
        """For each entity and slot: the highest share and the mean share over its other slots.

        The share of another slot: of the entities that it has as anchors, how many the slot asked
        about has too. That the entity itself is already an anchor of the slot counts nothing.
        """
        size = len(self.follows)
        asked, back = np.unique(pair_keys(entities, slots, size), return_inverse=True)
        entity, slot = np.divmod(asked, size)
        counts = np.diff(self.offsets)[entity]
        rows = rows_of(np.append(0, np.cumsum(counts)))
        shares = self.follows[self.slots[places_in(self.offsets, entity)], slot[rows]]
        highest = np.zeros(len(asked))
        np.maximum.at(highest, rows, shares)
        mean = np.bincount(rows, shares, len(asked)) / np.maximum(counts, 1)
        return highest[back], mean[back]


def following(stands: csr_array) -> Shares:  # (slot, slot)
    """Of the rows of `stands` (row, slot) that have one slot, the share that has another.

    The diagonal is 0: a slot says nothing about itself.
    """
    together = (stands.T @ stands).toarray()
    shares: Shares = together / (np.diag(together)[:, None] + PRIOR)
    np.fill_diagonal(shares, 0)
    return shares


def _found(sorted_keys: Keys, keys: Keys) -> tuple[Keys, Keys]:
    """Where those of `keys` that are there stand in `sorted_keys`, and which they are."""
    places = np.searchsorted(sorted_keys, keys)
    inside = np.flatnonzero(places < len(sorted_keys))
    there = inside[sorted_keys[places[inside]] == keys[inside]]
    return places[there], there
