"""The rules that speak for given facts.

Nothing is mined beforehand. The rules with constants that could speak for a fact (h, r, t) are
about the known facts of h and of t, and are counted when the fact is asked about, exactly. The
paths are those that lead from h to t and are also found between known facts of the relation.

A known fact may be asked about too. It is no evidence for itself: its own case is taken away from
the counts of every rule.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import njit

from assent.core.arrays import Ids, Keys, Mask, found_in, frozen
from assent.geometry import threads
from assent.rules.firing import PRIOR
from assent.rules.graph import Graph
from assent.rules.paths import NONE, STEPS, PathSettings, bodies_of, count_paths, path_codes

KEPT = 8  # rules of each kind that are looked at for a fact
MIN_SUPPORT = 2  # one case alone says little
PATHS = PathSettings(steps=2)
MOST_PATHS = 4_000  # between the two entities of a fact, looked at


@dataclass(frozen=True, slots=True, eq=False)
class Constants:
    """For each fact, the surest rules about what one of its ends has, falling."""

    bodies: Ids  # (fact, kept)   property; NONE where there are fewer
    support: Ids  # (fact, kept)
    cases: Ids  # (fact, kept)


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """Paths from the heads of facts to their tails that have support, by fact."""

    rows: Keys  # (way,)      the fact
    steps: Ids  # (way, 3)    slots; NONE after the last
    middles: Ids  # (way,)    the entity between two steps, or NONE
    support: Keys  # (way,)
    cases: Keys  # (way,)


class Counting:
    """Counts the rules of one graph that speak for facts; what it found of a relation it keeps."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._bodies = cache(lambda relation: np.sort(bodies_of(graph, relation, PATHS)[0]))

    def items(self, slot: int, entities: Ids) -> Ids:
        """The number of the item (slot, entity) of each of these entities, or NONE."""
        return self.graph.item(np.full(len(entities), slot, np.int32), entities)

    def constants(self, anchors: Ids, items: Ids, known: Mask) -> Constants:
        """Rules about what the anchors have, which speak for their having these items, too.

        `known` tells for which of them this is a known fact. NONE for an item: nothing speaks.
        """
        graph, count = self.graph, len(anchors)
        order = np.argsort(items, kind="stable")
        starts = np.flatnonzero(np.diff(items[order], prepend=NONE) != 0)
        offsets = np.append(starts, count)
        found = Constants(*(np.full((count, KEPT), NONE, np.int32) for _ in range(3)))

        def work(part: int, parts: int) -> None:
            _constants(
                np.arange(part, len(starts), parts), offsets, order, items, anchors, known,
                graph.offsets, graph.items, graph.slot_offsets, graph.entity_slots,
                graph.item_slots, graph.member_offsets, graph.members, MIN_SUPPORT, PRIOR,
                found.bodies, found.support, found.cases,
            )  # fmt: skip

        threads.side_by_side(work)
        return found

    def ways(self, heads: Ids, relation: int, tails: Ids, known: Mask) -> Ways:
        """Paths of one and two steps that speak for (head, relation, tail)."""
        graph = self.graph
        rows, first, middles, second = _ways(
            heads, tails, relation, graph.offsets, graph.slots, graph.ends, graph.near_ends,
            graph.near_slots, graph.num_entities, graph.num_slots, MOST_PATHS,
        )  # fmt: skip
        steps = np.full((len(rows), STEPS), NONE, np.int32)
        steps[:, 0], steps[:, 1] = first, second
        codes = path_codes(steps, graph.num_slots)
        order = np.lexsort((middles, codes, rows))  # one example of each path: the first
        new = (np.diff(rows[order], prepend=-1) != 0) | (np.diff(codes[order], prepend=-1) != 0)
        kept = order[new]
        kept = kept[found_in(self._bodies(relation), codes[kept])]
        rows, steps, codes, middles = rows[kept], steps[kept], codes[kept], middles[kept]
        _, one, which = np.unique(codes, return_index=True, return_inverse=True)
        support, cases = count_paths(graph, relation, steps[one], PATHS)
        support, cases = support[which] - known[rows], cases[which] - known[rows]
        enough = support >= MIN_SUPPORT
        columns = (rows, steps, middles, support, cases)
        return Ways(*(frozen(column[enough], column.dtype.type) for column in columns))

    def members(self, property_: int) -> Ids:
        """The entities that have a property, ascending."""
        graph = self.graph
        return graph.members[graph.member_offsets[property_] : graph.member_offsets[property_ + 1]]

    def examples(self, body: int, item: int, but: int, most: int) -> list[int]:
        """A few others with both properties."""
        return _common(self.members(body), self.members(item), but, most).tolist()


@njit(nogil=True, cache=True)
def _constants(
    groups, group_offsets, order, head_items, anchors, known, offsets, items, slot_offsets,
    entity_slots, item_slots, member_offsets, members, min_support, prior,
    out_bodies, out_support, out_cases,
):  # fmt: skip
    """Of the members of each item, how many have each property; then the best of each anchor."""
    num_items = len(item_slots)
    times = np.zeros(len(member_offsets) - 1, np.int32)
    for group in groups:
        low, high = group_offsets[group], group_offsets[group + 1]
        item = head_items[order[low]]
        if item < 0:
            continue
        for sign in (1, -1):  # counted, and in the end taken back
            for m in range(member_offsets[item], member_offsets[item + 1]):
                entity = members[m]
                for q in range(offsets[entity], offsets[entity + 1]):
                    times[items[q]] += sign
                for q in range(slot_offsets[entity], slot_offsets[entity + 1]):
                    times[num_items + entity_slots[q]] += sign
            if sign < 0:
                break
            for k in range(low, high):
                fact = order[k]
                anchor, own = anchors[fact], np.int32(known[fact])
                best = np.zeros(out_bodies.shape[1], np.float64)
                for q in range(offsets[anchor], offsets[anchor + 1]):
                    body = items[q]
                    if body != item:
                        _keep(body, times[body] - own,
                              member_offsets[body + 1] - member_offsets[body] - own,
                              min_support, prior, best, out_bodies[fact], out_support[fact],
                              out_cases[fact])  # fmt: skip
                for q in range(slot_offsets[anchor], slot_offsets[anchor + 1]):
                    body = num_items + entity_slots[q]
                    if entity_slots[q] != item_slots[item]:
                        _keep(body, times[body] - own,
                              member_offsets[body + 1] - member_offsets[body] - own,
                              min_support, prior, best, out_bodies[fact], out_support[fact],
                              out_cases[fact])  # fmt: skip


@njit(nogil=True, cache=True)
def _keep(body, support, cases, min_support, prior, best, bodies, supports, all_cases):
    """Inserts a rule into lists that fall by confidence; of equal ones the earlier stays first."""
    if support < min_support:
        return
    confidence = support / (cases + prior)
    place = len(best) - 1
    if confidence <= best[place]:
        return
    while place > 0 and confidence > best[place - 1]:
        best[place], bodies[place] = best[place - 1], bodies[place - 1]
        supports[place], all_cases[place] = supports[place - 1], all_cases[place - 1]
        place -= 1
    best[place], bodies[place], supports[place] = confidence, body, support
    all_cases[place] = cases


@njit(nogil=True, cache=True)
def _ways(
    heads, tails, relation, offsets, slots, ends, near_ends, near_slots, num_entities, num_slots,
    most,
):  # fmt: skip
    """All paths of one and two steps from each head to its tail, at most so many of a fact."""
    half = num_slots // 2
    there = np.full(num_entities, -1, np.int64)
    room, size = 1 << 10, 0
    out = np.empty((room, 4), np.int32)
    for i in range(len(heads)):
        x, y = heads[i], tails[i]
        if x == y:
            continue
        low, high = offsets[y], offsets[y + 1]
        for q in range(high - 1, low - 1, -1):
            there[near_ends[q]] = q  # the first link from y to this neighbour
        if size + most > room:
            while size + most > room:
                room *= 2
            longer = np.empty((room, 4), np.int32)
            longer[:size] = out[:size]
            out = longer
        last = size + most
        q = there[x]
        while 0 <= q < high and near_ends[q] == x and size < last:
            step = (near_slots[q] + half) % num_slots
            if step != relation:
                out[size, 0], out[size, 1], out[size, 2], out[size, 3] = i, step, -1, -1
                size += 1
            q += 1
        for p in range(offsets[x], offsets[x + 1]):
            a = ends[p]
            if a == y:
                continue
            q = there[a]
            while 0 <= q < high and near_ends[q] == a and size < last:
                out[size, 0], out[size, 1], out[size, 2] = i, slots[p], a
                out[size, 3] = (near_slots[q] + half) % num_slots
                size += 1
                q += 1
        for q in range(low, high):
            there[near_ends[q]] = -1
    found = out[:size]
    return (
        found[:, 0].astype(np.int64),
        found[:, 1].copy(),
        found[:, 2].copy(),
        found[:, 3].copy(),
    )


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
