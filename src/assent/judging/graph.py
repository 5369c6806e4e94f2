"""What the train facts say about a candidate: its relation, its place in it, other links."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assent.core.arrays import Ids, Keys, places_in, rows_of
from assent.core.benchmark import Benchmark
from assent.core.queries import Queries, both_ways
from assent.judging.neighbours import Neighbours
from assent.judging.places import Places, following

LINKS = ("links", "implied")  # columns of the other facts between anchor and entity

Columns = dict[str, NDArray[Any]]


class Graph:
    """The train facts, each seen from both ends; answers of valid and test never come here.

    The entities that answer a slot are the anchors of its inverse.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        names = benchmark.vocabulary
        self.num_entities, self.num_slots = names.num_entities, 2 * names.num_relations
        anchors, slots, entities = both_ways(benchmark.train, names.num_relations)
        self.known = Queries.grouped(anchors, slots, entities)
        self.degrees = np.bincount(anchors, minlength=self.num_entities)
        self.slot_facts = np.bincount(slots, minlength=self.num_slots)
        self.slot_anchors = np.bincount(self.known.relations, minlength=self.num_slots)
        self.places = Places(anchors, slots, self.num_entities, self.num_slots)
        self.neighbours = Neighbours(anchors, entities, self.num_entities)
        self._link(anchors, slots, entities)

    def _link(self, anchors: Ids, slots: Ids, entities: Ids) -> None:
        """Which slots connect each two entities, and how often one slot comes with another."""
        keys = self._keys(anchors, entities)
        order = np.argsort(keys, kind="stable")
        self.pairs, starts = np.unique(keys[order], return_index=True)
        self.pair_offsets = np.append(starts, len(keys)).astype(np.int64)
        self.pair_slots = slots[order]
        stands = csr_array(
            (np.ones(len(keys)), self.pair_slots, self.pair_offsets),
            shape=(len(self.pairs), self.num_slots),
        )
        self.implies = following(stands)

    def columns(self, anchors: Ids, slots: Ids, entities: Ids) -> Columns:
        """Of each candidate; `inverse` is its relation asked from the entity."""
        inverse = (slots + self.num_slots // 2) % self.num_slots
        answers_each = self.slot_facts / np.maximum(self.slot_anchors, 1)
        seen = self._known(entities, inverse)
        anchor_fits, anchor_fits_mean = self.places.fits(anchors, slots)
        entity_fits, entity_fits_mean = self.places.fits(entities, inverse)
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
        """How many answers train has to (anchor, slot, ?)."""
        mine = self.known.keys(self.num_entities)
        asked = slots.astype(np.int64) * self.num_entities + anchors
        places, there = _found(mine, asked)
        counts = np.zeros(len(asked), np.int64)
        counts[there] = self.known.num_answers[places]
        return counts

    def _links(self, anchors: Ids, slots: Ids, entities: Ids) -> tuple[Keys, NDArray[np.float64]]:
        """Facts between anchor and entity, and how surely the most telling implies this one."""
        places, there = _found(self.pairs, self._keys(anchors, entities))
        counts = np.diff(self.pair_offsets)[places]
        links = np.zeros(len(anchors), np.int64)
        links[there] = counts
        others = self.pair_slots[places_in(self.pair_offsets, places)]
        rows = there[rows_of(np.append(0, np.cumsum(counts)))]
        implied = np.zeros(len(anchors))
        np.maximum.at(implied, rows, self.implies[others, slots[rows]])
        return links, implied

    def _keys(self, anchors: Ids, entities: Ids) -> Keys:
        return anchors.astype(np.int64) * self.num_entities + entities


def _found(sorted_keys: Keys, keys: Keys) -> tuple[Keys, Keys]:
    """Where those of `keys` that are there stand in `sorted_keys`, and which they are."""
    places = np.searchsorted(sorted_keys, keys)
    inside = np.flatnonzero(places < len(sorted_keys))
    there = inside[sorted_keys[places[inside]] == keys[inside]]
    return places[there], there
