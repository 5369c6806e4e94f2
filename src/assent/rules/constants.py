"""Rules with constants: r(X, e) <- s(X, c), and r(X, e) <- s(X, anyone).

Both say: who has this property has that item, too. They are counted exactly: of the entities with
the property (the cases), those that have the item (the support). An item is never evidence for
itself, and neither is its own slot: r(X, e) <- r(X, anyone) would use the fact it speaks for.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from assent.core.arrays import Ids, Keys, frozen, offsets_of
from assent.geometry import threads
from assent.rules.drawing import drawn_below, first_state, next_state
from assent.rules.graph import Graph

CHUNK = 4_000_000  # links looked at before the clock is looked at again
MAX_MEMBERS = 5_000  # of an item, looked at; of a larger one as many are drawn
MOST = 100_000_000  # rules, about: 8 bytes each, and twice that while they are put in order


@dataclass(frozen=True, slots=True, eq=False)
class Constants:
    """Rules by the item that they speak for, with the properties that speak ascending."""

    offsets: Keys  # (item + 1,)
    bodies: Ids  # (rule,)   property
    support: Ids  # (rule,)

    def __len__(self) -> int:
        return len(self.bodies)


def mine_constants(
    graph: Graph,
    min_support: int = 2,
    max_members: int = MAX_MEMBERS,
    seed: int = 0,
    go_on: Callable[[int, int], bool] = lambda done, total: True,
    most: int = MOST,
) -> Constants:
    """All rules with this support, the items of most entities first, until there are `most`.

    `go_on(done, total)` is told how much of the work is done, and says whether to do more.
    """
    sizes = graph.sizes[: graph.num_items]
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] >= min_support]
    costs = np.cumsum(_costs(graph, sizes, max_members)[order])
    total, done = int(costs[-1]) if len(costs) else 0, 0
    counts = np.zeros(graph.num_items, np.int64)
    parts = []
    while done < len(order) and go_on(int(costs[done - 1]) if done else 0, total):
        if counts.sum() >= most:
            break
        start = costs[done - 1] if done else 0
        end = max(int(np.searchsorted(costs, start + CHUNK, side="right")), done + 1)
        heads = order[done:end]
        parts += _counted(graph, heads, min_support, max_members, seed, counts)
        done = end
    return _by_head(graph, parts, counts)


def _costs(graph: Graph, sizes: Keys, max_members: int) -> Keys:  # (item,)
    """About how many links are looked at for each item."""
    degrees = np.append(0, np.cumsum(np.diff(graph.offsets)[graph.members]))
    at = graph.member_offsets[: graph.num_items + 1]
    links = degrees[at[1:]] - degrees[at[:-1]]
    return (links * np.minimum(1, max_members / np.maximum(sizes, 1))).astype(np.int64) + 1


def _counted(graph, heads, min_support, max_members, seed, counts):
    """The rules of some items: (heads, bodies, support), a part for each thread."""

    def count(part: int, parts: int):
        mine = np.ascontiguousarray(heads[part::parts])
        return _count(
            mine, graph.offsets, graph.items, graph.slot_offsets, graph.entity_slots,
            graph.item_slots, graph.member_offsets, graph.members, min_support, max_members, seed,
        )  # fmt: skip

    found = []
    for who, bodies, support in threads.side_by_side(count):
        counts += np.bincount(who, minlength=len(counts))
        found.append((who, bodies, support))
    return found


def _by_head(graph: Graph, parts, counts) -> Constants:
    """Rules ordered by head; the bodies of a head ascend already."""
    offsets = offsets_of(counts)
    bodies, support = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    for heads, part_bodies, part_support in parts:
        _place(heads, part_bodies, part_support, offsets, bodies, support)
    return Constants(frozen(offsets, np.int64), frozen(bodies), frozen(support))


@njit(nogil=True, cache=True)
def _place(heads, part_bodies, part_support, offsets, bodies, support):
    place, last = 0, -1
    for i in range(len(heads)):
        place = place + 1 if heads[i] == last else offsets[heads[i]]
        last = heads[i]
        bodies[place], support[place] = part_bodies[i], part_support[i]


@njit(nogil=True, cache=True)
def _count(
    heads, offsets, items, slot_offsets, entity_slots, item_slots, member_offsets, members,
    min_support, max_members, seed,
):  # fmt: skip
    """Of the members of each head, how many have each property."""
    num_items = len(item_slots)
    times = np.zeros(len(member_offsets) - 1, np.int32)
    met = np.empty(len(times), np.int32)
    size, room = 0, 1 << 16
    out_heads = np.empty(room, np.int32)
    out_bodies = np.empty(room, np.int32)
    out_support = np.empty(room, np.int32)
    for head in heads:
        low, high = member_offsets[head], member_offsets[head + 1]
        drawn = high - low > max_members
        looked_at = max_members if drawn else high - low
        state = first_state(seed, head)
        num_met = 0
        for k in range(looked_at):
            place = low + k
            if drawn:  # one from each of as many stretches of equal length
                state = next_state(state)
                first = low + k * (high - low) // max_members
                stretch = low + (k + 1) * (high - low) // max_members - first
                place = first + drawn_below(state, stretch)
            entity = members[place]
            for q in range(offsets[entity], offsets[entity + 1]):
                p = items[q]
                if times[p] == 0:
                    met[num_met] = p
                    num_met += 1
                times[p] += 1
            for q in range(slot_offsets[entity], slot_offsets[entity + 1]):
                p = num_items + entity_slots[q]
                if times[p] == 0:
                    met[num_met] = p
                    num_met += 1
                times[p] += 1
        times[head] = 0
        times[num_items + item_slots[head]] = 0
        kept = 0
        for k in range(num_met):
            p = met[k]
            found = times[p]
            if drawn:
                found = np.int32(min(found * (high - low) / looked_at + 0.5,
                                     member_offsets[p + 1] - member_offsets[p]))  # fmt: skip
            if found >= min_support and times[p] > 1:
                met[kept] = p
                kept += 1
                times[p] = found
            else:
                times[p] = 0
        if size + kept > room:
            while size + kept > room:
                room *= 2
            out_heads = _longer(out_heads, room, size)
            out_bodies = _longer(out_bodies, room, size)
            out_support = _longer(out_support, room, size)
        chosen = np.sort(met[:kept])
        for k in range(kept):
            p = chosen[k]
            out_heads[size], out_bodies[size], out_support[size] = head, p, times[p]
            times[p] = 0
            size += 1
    return out_heads[:size].copy(), out_bodies[:size].copy(), out_support[:size].copy()


@njit(nogil=True, cache=True)
def _longer(values, room, size):
    longer = np.empty(room, values.dtype)
    longer[:size] = values[:size]
    return longer
