"""What lies two steps from the entities of given facts: rules with a constant after two steps.

Looked for among the constants that others with the same item have, too; those that most of a
sample have are counted, exactly. A known fact is no evidence for itself.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from dataclasses import dataclass

import numpy as np
from numba import njit

from assent.core.arrays import Ids, Mask
from assent.geometry import threads
from assent.rules.ends import MAX_WALK
from assent.rules.falling import enter, make_room
from assent.rules.graph import Graph, inverse_of, linked, links_by
from assent.rules.mining import PRIOR
from assent.rules.steps import NONE

LINKS = 60  # of an entity, looked at for constants after two steps; of more, as many are drawn
MEMBERS = 60  # of those that have the item, likewise
COUNTED = 24  # constants after two steps that most of them have, counted for a fact


@dataclass(frozen=True, slots=True, eq=False)
class Beyond:
    """For each fact, the surest rules with a constant after two steps from one of its ends."""

    slots: Ids  # (fact, kept)     the first step; NONE where there are fewer
    items: Ids  # (fact, kept)     what the entity has that it leads to
    middles: Ids  # (fact, kept)   that entity, or the first of several
    support: Ids  # (fact, kept)
    cases: Ids  # (fact, kept)


def beyond(
    graph: Graph, anchors: Ids, items: Ids, known: Mask, kept: int, min_support: int
) -> Beyond:
    """The surest rules with a constant two steps from the anchors, for their having these items."""
    count = len(anchors)
    found = Beyond(*(np.full((count, kept), NONE, np.int32) for _ in range(5)))

    def work(part: int, parts: int) -> None:
        _count(
            np.arange(part, count, parts), anchors, items, known, graph.offsets, graph.slots,
            graph.ends, graph.items, graph.item_slots, graph.item_entities,
            graph.member_offsets, graph.members, graph.num_slots, min_support, PRIOR,
            found.slots, found.items, found.middles, found.support, found.cases,
        )  # fmt: skip

    threads.side_by_side(work)
    return found


@njit(nogil=True, cache=True)
def _count(
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
                    place = enter(hits, much)
                    if place >= 0:
                        make_room(some, place)
                        some[place, 0], some[place, 1], some[place, 2] = slot, bodies[k], middles[k]
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
            place = enter(best, support / (cases + prior))
            if place < 0:
                continue
            for out in (out_slots, out_items, out_middles, out_support, out_cases):
                make_room(out[fact], place)
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
def _walk_back(
    slot, item, asked, entity, but, offsets, slots, ends, item_entities, member_offsets, members,
    num_slots, stamp, now,
):  # fmt: skip
    """Support and cases of a body without one entity; none where it was right by a single Z."""
    back = inverse_of(slot, num_slots)
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
