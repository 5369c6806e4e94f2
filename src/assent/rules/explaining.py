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
from assent.rules.ends import MAX_WALK
from assent.rules.firing import PRIOR
from assent.rules.graph import Graph, linked, links_by
from assent.rules.paths import NONE, STEPS, PathSettings, bodies_of, count_paths, path_codes

KEPT = 8  # rules of each kind that are looked at for a fact
MIN_SUPPORT = 2  # one case alone says little
PATHS = PathSettings(steps=2)
LINKS = 60  # of an entity, looked at for constants after two steps; of more, as many are drawn
MEMBERS = 60  # of those that have the item, likewise
COUNTED = 24  # constants after two steps that most of them have, counted for a fact
MOST_PATHS = 4_000  # between the two entities of a fact, looked at


@dataclass(frozen=True, slots=True, eq=False)
class Constants:
    """For each fact, the surest rules about what one of its ends has, falling."""

    bodies: Ids  # (fact, kept)   property; NONE where there are fewer
    support: Ids  # (fact, kept)
    cases: Ids  # (fact, kept)


@dataclass(frozen=True, slots=True, eq=False)
class Beyond:
    """For each fact, the surest rules with a constant after two steps from one of its ends."""

    slots: Ids  # (fact, kept)     the first step; NONE where there are fewer
    items: Ids  # (fact, kept)     what the entity has that it leads to
    middles: Ids  # (fact, kept)   that entity, or the first of several
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

    def ends(self, anchors: Ids, items: Ids, known: Mask) -> Beyond:
        """Rules with a constant two steps from the anchors that speak for their having these items.

        Looked for among the constants that others with the item have, too; those that most of a
        sample have are counted, exactly.
        """
        graph, count = self.graph, len(anchors)
        found = Beyond(*(np.full((count, KEPT), NONE, np.int32) for _ in range(5)))

        def work(part: int, parts: int) -> None:
            _ends(
                np.arange(part, count, parts), anchors, items, known, graph.offsets, graph.slots,
                graph.ends, graph.items, graph.item_slots, graph.item_entities,
                graph.member_offsets, graph.members, graph.num_slots, MIN_SUPPORT, PRIOR,
                found.slots, found.items, found.middles, found.support, found.cases,
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
def _ends(
    facts, anchors, head_items, known, offsets, slots, ends, items, item_slots, item_entities,
    member_offsets, members, num_slots, min_support, prior,
    out_slots, out_items, out_middles, out_support, out_cases,
):  # fmt: skip
    num_entities, num_items = len(offsets) - 1, len(item_slots)
    mark = np.full(num_items, -1, np.int64)  # the place of an item among the bodies of one slot
    stamp, now = np.full(num_entities, -1, np.int64), np.int64(0)
    for fact in facts:
        anchor, head = anchors[fact], head_items[fact]
        if head < 0:
            continue
        entity, asked = item_entities[head], item_slots[head]
        hits = np.zeros(COUNTED, np.float64)
        some = np.empty((COUNTED, 3), np.int64)  # slot, item, middle
        q = offsets[anchor]
        while q < offsets[anchor + 1]:
            slot = slots[q]
            low, high = links_by(offsets, slots, anchor, slot)
            q = high
            bodies, middles = _bodies(anchor, entity, low, high, offsets, ends, items,
                                      item_entities, member_offsets, mark)  # fmt: skip
            times = np.zeros(len(bodies), np.int64)
            first = np.full(len(bodies), -1, np.int64)  # the one Z by which others have a body
            last = np.full(len(bodies), -1, np.int64)  # the last of the others that was counted
            size = member_offsets[head + 1] - member_offsets[head]
            for m in range(0, size, max(1, size // MEMBERS)):
                other = members[member_offsets[head] + m]
                if other == anchor:
                    continue
                o_low, o_high = links_by(offsets, slots, other, slot)
                for o in range(o_low, o_high, max(1, (o_high - o_low) // LINKS)):
                    z = ends[o]
                    if z == entity:
                        continue
                    for i in range(offsets[z], offsets[z + 1]):
                        place = mark[items[i]]
                        if place < 0 or item_entities[items[i]] == other:
                            continue
                        if first[place] == -1:
                            first[place] = z
                        elif first[place] != z:
                            first[place] = -2
                        if last[place] != other:
                            last[place] = other
                            times[place] += 1
            for k in range(len(bodies)):
                mark[bodies[k]] = -1
                if times[k] >= min_support and first[k] == -2:
                    much = times[k] * np.log(
                        num_entities / (member_offsets[bodies[k] + 1] - member_offsets[bodies[k]])
                    )
                    _insert(much, slot, bodies[k], middles[k], hits, some)
        best = np.zeros(out_slots.shape[1], np.float64)
        for k in range(COUNTED):
            if hits[k] <= 0:
                break
            now += 1
            support, cases = _walk_back(
                some[k, 0], some[k, 1], asked, entity, anchor, offsets, slots, ends,
                item_entities, member_offsets, members, num_slots, stamp, now,
            )  # fmt: skip
            if support < min_support:
                continue
            if not known[fact]:
                cases += 1  # the anchor, for which the body holds and the fact is not known
            confidence = support / (cases + prior)
            place = len(best)
            while place > 0 and confidence > best[place - 1]:
                place -= 1
            if place == len(best):
                continue
            for later in range(len(best) - 1, place, -1):
                best[later] = best[later - 1]
                for out in (out_slots, out_items, out_middles, out_support, out_cases):
                    out[fact, later] = out[fact, later - 1]
            best[place] = confidence
            out_slots[fact, place], out_items[fact, place] = some[k, 0], some[k, 1]
            out_middles[fact, place] = some[k, 2]
            out_support[fact, place], out_cases[fact, place] = support, cases


@njit(nogil=True, cache=True)
def _bodies(anchor, entity, low, high, offsets, ends, items, item_entities, member_offsets, mark):
    """The items, marked by their places, of those to whom links of the anchor lead."""
    room, size = 1 << 8, 0
    bodies, middles = np.empty(room, np.int64), np.empty(room, np.int64)
    for o in range(low, high, max(1, (high - low) // LINKS)):
        z = ends[o]
        if z == entity:
            continue
        i_low, i_high = offsets[z], offsets[z + 1]
        for i in range(i_low, i_high, max(1, (i_high - i_low) // LINKS)):
            item = items[i]
            if mark[item] >= 0 or item_entities[item] == anchor:
                continue
            if member_offsets[item + 1] - member_offsets[item] < 2:
                continue
            if size == room:
                room *= 2
                longer, more = np.empty(room, np.int64), np.empty(room, np.int64)
                longer[:size], more[:size] = bodies, middles
                bodies, middles = longer, more
            mark[item], bodies[size], middles[size] = size, item, z
            size += 1
    return bodies[:size], middles[:size]


@njit(nogil=True, cache=True)
def _insert(much, slot, item, middle, hits, some):
    """Keeps a body in lists that fall; of equal ones the earlier stays first."""
    place = len(hits)
    while place > 0 and much > hits[place - 1]:
        place -= 1
    if place == len(hits):
        return
    for k in range(len(hits) - 1, place, -1):
        hits[k] = hits[k - 1]
        some[k] = some[k - 1]
    hits[place] = much
    some[place, 0], some[place, 1], some[place, 2] = slot, item, middle


@njit(nogil=True, cache=True)
def _walk_back(
    slot, item, asked, entity, but, offsets, slots, ends, item_entities, member_offsets, members,
    num_slots, stamp, now,
):  # fmt: skip
    """Support and cases of a body without one entity; none where it was right by a single Z."""
    back = (slot + num_slots // 2) % num_slots
    support, cases, spent, through = 0, 0, 0, np.int32(-1)
    several = False
    for m in range(member_offsets[item], member_offsets[item + 1]):
        z = members[m]
        if z == entity:
            continue
        low, high = links_by(offsets, slots, z, back)
        spent += high - low
        if spent > MAX_WALK:
            return 0, 0
        for q in range(low, high):
            x = ends[q]
            if x == but or x == item_entities[item]:
                continue
            new = stamp[x] != now
            if new:
                stamp[x] = now
                cases += 1
            if linked(offsets, slots, ends, x, asked, entity):
                support += new
                if through == -1:
                    through = z
                several = several or through != z
    return (support, cases) if several else (0, 0)


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
