"""Rules with a constant after two steps: r(X, e) <- s(X, Z), t(Z, c).

The body says: X has slot s with some Z that has the item (t, c). Z is neither X nor e, and c is not
X, so no fact between X and e is a step of it: neither the fact that the rule speaks for nor any
other between the two. Such a rule tells more than r(X, e) <- s(X, Z) only if it was right by more
than one Z; else that rule has the same support and fewer cases, and this one is left out.

Each body is walked backwards, from those that have (t, c) to all X (the cases); then what these
have is counted. Of each item the surest rules are kept.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, frozen, offsets_of
from assent.geometry import threads
from assent.rules.drawing import drawn_below, first_state, next_state
from assent.rules.graph import Graph, first_at_least, inverse_of, links_by

EACH = 64  # rules kept of each item that they speak for
MOST = 20_000_000  # rules kept in all, at most, by each thread: 20 bytes each
CHUNK = 20_000_000  # links looked at before the clock is looked at again
FIRST_WALK = (
    1_000_000  # links of those that have (t, c); more are not walked: all have such a thing
)
MAX_WALK = 30_000  # steps of a body; a longer one is nearly a rule about a slot
MAX_MEMBERS = 300  # of the cases of a body, looked at; of more as many are drawn

NOBODY, SEVERAL = -2, -1  # instead of the one Z by which a body holds


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Rules by the item that they speak for, the surest first."""

    offsets: Keys  # (item + 1,)
    slots: Ids  # (rule,)     the first step
    items: Ids  # (rule,)     what the entity has that it leads to
    support: Ids  # (rule,)
    cases: Ids  # (rule,)

    def __len__(self) -> int:
        return len(self.slots)

    @classmethod
    def nothing(cls, graph: Graph) -> "Ends":
        empty = frozen([])
        return cls(frozen(np.zeros(graph.num_items + 1), np.int64), empty, empty, empty, empty)

    @classmethod
    def of(cls, graph: Graph, prior: float, heads: Ids, *columns: Ids) -> "Ends":
        """From rules in any order: heads, slots, items, support, cases (rule,)."""
        slots, items, support, cases = columns
        order = np.lexsort((items, slots, -(support / (cases + prior)), heads))
        counts = np.bincount(heads, minlength=graph.num_items)
        kept = (frozen(column[order]) for column in columns)
        return cls(frozen(offsets_of(counts), np.int64), *kept)


def mine_ends(
    graph: Graph,
    prior: float,
    min_support: int = 2,
    each: int = EACH,
    seed: int = 0,
    go_on: Callable[[int, int], bool] = lambda done, total: True,
) -> Ends:
    """The surest rules of each item, at most `each`; ends that most entities have come first.

    `go_on(done, total)` is told how much of the work is done, and says whether to do more.
    """
    sizes = graph.sizes[: graph.num_items]
    heads = np.flatnonzero(sizes >= min_support)
    each = min(each, max(MOST // max(len(heads), 1), 1))
    rows = np.full(graph.num_items, -1, np.int32)
    rows[heads] = np.arange(len(heads))
    ends = np.argsort(-sizes, kind="stable")
    ends = ends[sizes[ends] > 1]  # by one Z alone, see above
    costs = np.cumsum(_costs(graph)[ends])
    total, done = int(costs[-1]) if len(costs) else 0, 0
    tables: dict[int, _Table] = {}  # of each part of the work: the surest rules of each head
    while done < len(ends) and go_on(int(costs[done - 1]) if done else 0, total):
        start = costs[done - 1] if done else 0
        last = max(int(np.searchsorted(costs, start + CHUNK, side="right")), done + 1)
        _count_all(graph, ends[done:last], rows, each, tables, prior, min_support, seed)
        done = last
    return _surest(graph, heads, list(tables.values()), each, prior)


class _Table(NamedTuple):
    """The surest rules of each head that were found so far, falling."""

    confidence: NDArray[np.float32]  # (head, kept)   0: there is no such rule
    slots: Ids  # (head, kept)
    items: Ids  # (head, kept)
    support: Ids  # (head, kept)
    cases: Ids  # (head, kept)

    @classmethod
    def room(cls, num_heads: int, each: int) -> "_Table":
        numbers = (np.zeros((num_heads, each), np.int32) for _ in range(4))
        return cls(np.zeros((num_heads, each), np.float32), *numbers)


def _costs(graph: Graph) -> Keys:  # (item,)
    """About how many links are looked at for the bodies that end in each item."""
    degrees = np.diff(graph.offsets)
    beyond = np.bincount(  # links of the neighbours of an entity
        np.repeat(np.arange(graph.num_entities), degrees),
        np.minimum(degrees[graph.ends], MAX_MEMBERS),
        graph.num_entities,
    )
    summed = np.append(0, np.cumsum((degrees + beyond)[graph.members]))
    at = graph.member_offsets[: graph.num_items + 1]
    costs: Keys = (summed[at[1:]] - summed[at[:-1]]).astype(np.int64) + 1
    return costs


def _count_all(graph, ends, rows, each, tables, prior, min_support, seed) -> None:
    """Counts all bodies that end in these items, and keeps the surest rules of each head."""

    def count(part: int, parts: int) -> None:
        if part not in tables:
            tables[part] = _Table.room(int(rows.max(initial=-1)) + 1, each)
        _count(
            np.ascontiguousarray(ends[part::parts]), graph.offsets, graph.slots, graph.ends,
            graph.items, graph.item_entities, graph.member_offsets, graph.members, rows,
            graph.num_slots, prior, min_support, seed, tables[part],
        )  # fmt: skip

    threads.side_by_side(count)


def _surest(graph, heads, tables, each, prior) -> Ends:
    """The surest rules of each head in all tables."""
    if not tables:
        return Ends.nothing(graph)
    joined = _Table(*(np.concatenate(columns, axis=1) for columns in zip(*tables, strict=True)))
    if len(tables) > 1:
        order = np.lexsort((joined.items, joined.slots, -joined.confidence), axis=1)[:, :each]
        joined = _Table(*(np.take_along_axis(column, order, axis=1) for column in joined))
    there = joined.confidence > 0
    rows = np.repeat(heads, there.sum(axis=1))
    return Ends.of(graph, prior, rows, *(column[there] for column in joined[1:]))


@njit(nogil=True, cache=True)
def _count(
    ends_, offsets, slots, ends, items, item_entities, member_offsets, members, rows, num_slots,
    prior, min_support, seed, table,
):  # fmt: skip
    num_entities = len(offsets) - 1
    by_slot = np.zeros(num_slots + 1, np.int64)
    stamp, met = np.full(num_entities, -1, np.int64), np.empty(num_entities, np.int32)
    via = np.empty(num_entities, np.int32)  # the one Z of an X, or SEVERAL
    alone = np.zeros(num_entities, np.int32)  # the X that have only this Z
    times = np.zeros(len(rows), np.int32)
    through = np.empty(len(rows), np.int32)  # the one Z by which a rule was right, or SEVERAL
    spoken_for = np.empty(len(rows), np.int32)
    room = 1 << 16
    starts, middles = np.empty(room, np.int32), np.empty(room, np.int32)
    now = np.int64(0)
    for end in ends_:
        last = item_entities[end]
        low, high = member_offsets[end], member_offsets[end + 1]
        size = np.int64(0)
        for m in range(low, high):
            size += offsets[members[m] + 1] - offsets[members[m]]
        if size > FIRST_WALK:
            continue
        if size > room:
            room = 2 * size
            starts, middles = np.empty(room, np.int32), np.empty(room, np.int32)
        by_slot[:] = 0
        for m in range(low, high):
            for q in range(offsets[members[m]], offsets[members[m] + 1]):
                by_slot[slots[q] + 1] += 1
        for slot in range(num_slots):
            by_slot[slot + 1] += by_slot[slot]
        for m in range(low, high):
            for q in range(offsets[members[m]], offsets[members[m] + 1]):
                place = by_slot[slots[q]]
                by_slot[slots[q]] += 1
                starts[place], middles[place] = ends[q], members[m]
        for back in range(num_slots):  # now by_slot[slot] is where the links of a slot end
            first = by_slot[back - 1] if back else 0
            if by_slot[back] - first < 2 or by_slot[back] - first > MAX_WALK:
                continue
            slot = inverse_of(back, num_slots)
            now += 1
            cases = 0
            for k in range(first, by_slot[back]):
                x = starts[k]
                if x == last:
                    continue
                if stamp[x] == now:
                    via[x] = SEVERAL
                else:
                    stamp[x], via[x], met[cases] = now, middles[k], x
                    cases += 1
            if cases < 2:
                continue
            for k in range(cases):
                if via[met[k]] >= 0:
                    alone[via[met[k]]] += 1
            drawn = cases > MAX_MEMBERS
            looked_at = MAX_MEMBERS if drawn else cases
            code = np.uint64(end) * np.uint64(num_slots) + np.uint64(slot)
            state = first_state(seed, code)
            heads = 0
            for k in range(looked_at):
                place = k
                if drawn:  # one from each of as many stretches of equal length
                    state = next_state(state)
                    place = k * cases // looked_at
                    stretch = (k + 1) * cases // looked_at - place
                    place += drawn_below(state, stretch)
                x = met[place]
                for q in range(offsets[x], offsets[x + 1]):
                    head = items[q]
                    if rows[head] < 0 or ends[q] == via[x]:
                        continue
                    if times[head] == 0:
                        spoken_for[heads], through[head] = head, via[x]
                        heads += 1
                    elif through[head] != via[x]:
                        through[head] = SEVERAL
                    times[head] += 1
            for k in range(heads):
                head = spoken_for[k]
                found = times[head]
                times[head] = 0
                if through[head] != SEVERAL or found < 2:
                    continue
                mine = cases - alone[item_entities[head]]
                support = np.int32(min(found * cases / looked_at + 0.5, mine)) if drawn else found
                if support >= min_support:
                    _keep(rows[head], slot, end, support, mine, prior, table)
            for k in range(cases):
                if via[met[k]] >= 0:
                    alone[via[met[k]]] = 0


@njit(nogil=True, cache=True)
def _keep(row, slot, item, support, cases, prior, table):
    """Inserts a rule where it belongs, if it is one of the surest of its head."""
    confidence = np.float32(support / (cases + prior))
    best, slots, items = table.confidence[row], table.slots[row], table.items[row]
    place = len(best)
    while place > 0 and (
        confidence > best[place - 1]
        or (
            confidence == best[place - 1]
            and (slot < slots[place - 1] or (slot == slots[place - 1] and item < items[place - 1]))
        )
    ):
        place -= 1
    if place == len(best):
        return
    for k in range(len(best) - 1, place, -1):
        best[k], slots[k], items[k] = best[k - 1], slots[k - 1], items[k - 1]
        table.support[row, k] = table.support[row, k - 1]
        table.cases[row, k] = table.cases[row, k - 1]
    best[place], slots[place], items[place] = confidence, slot, item
    table.support[row, place], table.cases[row, place] = support, cases


@njit(nogil=True, cache=True)
def reached(offsets, slots, ends, items, item_entities, member_offsets, members, start, slot, item):
    """By which Z the body (slot, item) holds for an entity: NOBODY, SEVERAL, or the only one."""
    if item_entities[item] == start:
        return NOBODY
    low, high = links_by(offsets, slots, start, slot)
    first, last = member_offsets[item], member_offsets[item + 1]
    found = NOBODY
    if high - low <= last - first:
        for q in range(low, high):
            z = ends[q]
            place = first_at_least(items, offsets[z], offsets[z + 1], item)
            if place < offsets[z + 1] and items[place] == item:
                if found != NOBODY:
                    return SEVERAL
                found = z
        return found
    for m in range(first, last):
        z = members[m]
        place = first_at_least(ends, low, high, z)
        if place < high and ends[place] == z:
            if found != NOBODY:
                return SEVERAL
            found = z
    return found
