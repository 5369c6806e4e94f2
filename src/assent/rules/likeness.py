"""How much a candidate is like the answers that its query has already.

Two entities are alike if they have the same items: the same slot with the same entity. An item that
few have weighs more, ln(entities / those that have it), and likeness is the cosine of the weighted
items. Facts with the anchor of the query count nothing here, and a known answer is not compared
with itself.
"""

# mypy: ignore-errors
# Numba checks the types of the loop, in its own way.

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from assent.core.arrays import Ids, pair_keys
from assent.geometry import threads
from assent.rules.graph import Graph, linked, links_by

Shares = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """The items of each entity, weighted."""

    graph: Graph
    weights: NDArray[np.float64]  # (link,)  of the item that a link gives its start, length 1 each

    @classmethod
    def of(cls, graph: Graph) -> "Likeness":
        sizes = np.maximum(graph.sizes[: graph.num_items], 1)
        weights = np.log(graph.num_entities / sizes)[graph.items]
        starts = np.repeat(np.arange(graph.num_entities), np.diff(graph.offsets))
        lengths = np.sqrt(np.bincount(starts, weights**2, graph.num_entities))
        return cls(graph, weights / np.where(lengths > 0, lengths, 1)[starts])

    def to_answers(self, anchors: Ids, slots: Ids, entities: Ids) -> tuple[Shares, Shares]:
        """For each candidate: its mean likeness to the known answers, and that to their sum.

        Both are 0 where train has no other answer.
        """
        keys = pair_keys(slots, anchors, self.graph.num_entities)
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1) != 0)
        offsets = np.append(starts, len(order))
        found = np.zeros((2, len(keys)), np.float32)

        def work(part: int, parts: int) -> None:
            graph = self.graph
            _compare(
                np.arange(part, len(starts), parts), offsets, order, anchors, slots, entities,
                graph.offsets, graph.slots, graph.ends, graph.items, self.weights,
                graph.num_items, found,
            )  # fmt: skip

        threads.side_by_side(work)
        return found[0], found[1]


@njit(nogil=True, cache=True)
def _compare(
    queries, candidate_offsets, order, anchors, asked, entities, offsets, slots, ends, items,
    weights, num_items, found,
):  # fmt: skip
    """Adds up the items of the answers of each query, then compares its candidates with the sum."""
    summed = np.zeros(num_items)
    for query in queries:
        candidates = order[candidate_offsets[query] : candidate_offsets[query + 1]]
        anchor, slot = anchors[candidates[0]], asked[candidates[0]]
        low, high = links_by(offsets, slots, anchor, slot)
        if low == high:
            continue
        for link in range(low, high):
            answer = ends[link]
            for q in range(offsets[answer], offsets[answer + 1]):
                if ends[q] != anchor:
                    summed[items[q]] += weights[q]
        length = 0.0
        for link in range(low, high):
            answer = ends[link]
            for q in range(offsets[answer], offsets[answer + 1]):
                if ends[q] != anchor:
                    length += summed[items[q]] * weights[q]
        for candidate in candidates:
            entity = entities[candidate]
            alike, own = 0.0, 0.0
            for q in range(offsets[entity], offsets[entity + 1]):
                if ends[q] != anchor:
                    alike += summed[items[q]] * weights[q]
                    own += weights[q] * weights[q]
            others, rest = high - low, length
            if linked(offsets, slots, ends, anchor, slot, entity):
                others, rest = others - 1, length - 2 * alike + own
                alike -= own
            if others > 0 and rest > 1e-12:
                found[0, candidate] = alike / others
                found[1, candidate] = alike / np.sqrt(rest)
        for link in range(low, high):
            answer = ends[link]
            for q in range(offsets[answer], offsets[answer + 1]):
                summed[items[q]] = 0.0
