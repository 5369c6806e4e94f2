"""What the two entities of given facts have: the rules with constants that speak for the facts.

Counted exactly, when a fact is asked about; a known fact is no evidence for itself.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from dataclasses import dataclass

import numpy as np
from numba import njit

from assent.core.arrays import Ids, Mask
from assent.geometry import threads
from assent.rules.falling import enter, make_room
from assent.rules.graph import Graph
from assent.rules.mining import PRIOR
from assent.rules.steps import NONE


@dataclass(frozen=True, slots=True, eq=False)
class Having:
    """For each fact, the surest rules about what one of its ends has, falling."""

    bodies: Ids  # (fact, kept)   property; NONE where there are fewer
    support: Ids  # (fact, kept)
    cases: Ids  # (fact, kept)


def having(
    graph: Graph, anchors: Ids, items: Ids, known: Mask, kept: int, min_support: int
) -> Having:
    """The surest rules about what the anchors have, which speak for their having these items."""
    count = len(anchors)
    order = np.argsort(items, kind="stable")
    starts = np.flatnonzero(np.diff(items[order], prepend=NONE) != 0)
    offsets = np.append(starts, count)
    found = Having(*(np.full((count, kept), NONE, np.int32) for _ in range(3)))

    def work(part: int, parts: int) -> None:
        _count(
            np.arange(part, len(starts), parts), offsets, order, items, anchors, known,
            graph.offsets, graph.items, graph.slot_offsets, graph.entity_slots,
            graph.item_slots, graph.member_offsets, graph.members, min_support, PRIOR,
            found.bodies, found.support, found.cases,
        )  # fmt: skip

    threads.side_by_side(work)
    return found


@njit(nogil=True, cache=True)
def _count(
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
    place = enter(best, support / (cases + prior))
    if place < 0:
        return
    for values in (bodies, supports, all_cases):
        make_room(values, place)
    bodies[place], supports[place], all_cases[place] = body, support, cases
