"""The rules that speak for given facts.

Nothing is mined beforehand. The rules with constants that could speak for a fact (h, r, t) are
about the known facts of h and of t, and are counted when the fact is asked about, exactly. The
paths are those that lead from h to t and are also found between known facts of the relation.

A known fact may be asked about too. It is no evidence for itself: its own case is taken away from
the counts of every rule.
"""

# mypy: ignore-errors
# Numba checks the types of the loop, in its own way.

from functools import cache

import numpy as np
from numba import njit

from assent.core.arrays import Ids, Mask
from assent.rules.beyond import Beyond, beyond
from assent.rules.bodies import PathSettings, bodies_of
from assent.rules.graph import Graph
from assent.rules.having import Having, having
from assent.rules.ways import Ways, ways_between

KEPT = 8  # rules of each kind that are looked at for a fact
MIN_SUPPORT = 2  # one case alone says little
PATHS = PathSettings(steps=2)


class Counting:
    """Counts the rules of one graph that speak for facts; what it found of a relation it keeps."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._bodies = cache(lambda relation: np.sort(bodies_of(graph, relation, PATHS)[0]))

    def items(self, slot: int, entities: Ids) -> Ids:
        """The number of the item (slot, entity) of each of these entities, or NONE."""
        return self.graph.item(np.full(len(entities), slot, np.int32), entities)

    def having(self, anchors: Ids, items: Ids, known: Mask) -> Having:
        """Rules about what the anchors have, which speak for their having these items, too.

        `known` tells for which of them this is a known fact. NONE for an item: nothing speaks.
        """
        return having(self.graph, anchors, items, known, KEPT, MIN_SUPPORT)

    def beyond(self, anchors: Ids, items: Ids, known: Mask) -> Beyond:
        """Rules with a constant two steps from the anchors that speak for their having these items.

        `known` and `items` as above.
        """
        return beyond(self.graph, anchors, items, known, KEPT, MIN_SUPPORT)

    def ways(self, heads: Ids, relation: int, tails: Ids, known: Mask) -> Ways:
        """Paths of one and two steps that speak for (head, relation, tail)."""
        bodies = self._bodies(relation)
        return ways_between(self.graph, heads, relation, tails, known, bodies, MIN_SUPPORT)

    def members(self, property_: int) -> Ids:
        """The entities that have a property, ascending."""
        graph = self.graph
        return graph.members[graph.member_offsets[property_] : graph.member_offsets[property_ + 1]]

    def examples(self, body: int, item: int, but: int, most: int) -> list[int]:
        """A few others with both properties."""
        return _common(self.members(body), self.members(item), but, most).tolist()


@njit(nogil=True, cache=True)
def _common(first, second, but, most):
    """The first few that are in both ascending lists, but for one."""
    found = np.empty(most, np.int32)
    size, i, k = 0, 0, 0
    while size < most and i < len(first) and k < len(second):
        if first[i] < second[k]:
            i += 1
        elif first[i] > second[k]:
            k += 1
        else:
            if first[i] != but:
                found[size] = first[i]
                size += 1
            i += 1
            k += 1
    return found[:size]
