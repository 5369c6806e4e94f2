"""The ways from the heads of given facts to their tails: the paths that speak for the facts."""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from dataclasses import dataclass

import numpy as np
from numba import njit

from assent.core.arrays import Ids, Keys, Mask, found_in, frozen
from assent.rules.graph import Graph, inverse_of
from assent.rules.steps import NONE, STEPS, path_codes
from assent.rules.walking import count_paths

MOST_PATHS = 4_000  # between the two entities of a fact, looked at


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """Paths from the heads of facts to their tails that have support, by fact."""

    rows: Keys  # (way,)      the fact
    steps: Ids  # (way, 3)    slots; NONE after the last
    middles: Ids  # (way,)    the entity between two steps, or NONE
    support: Keys  # (way,)
    cases: Keys  # (way,)


def ways_between(
    graph: Graph, heads: Ids, relation: int, tails: Ids, known: Mask, bodies: Keys, min_support: int
) -> Ways:
    """Paths of one and two steps that speak for (head, relation, tail).

    Only those of these bodies: numbers of paths, ascending.
    """
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
    kept = kept[found_in(bodies, codes[kept])]
    rows, steps, codes, middles = rows[kept], steps[kept], codes[kept], middles[kept]
    _, one, which = np.unique(codes, return_index=True, return_inverse=True)
    support, cases = count_paths(graph, relation, steps[one])
    support, cases = support[which] - known[rows], cases[which] - known[rows]
    enough = support >= min_support
    columns = (rows, steps, middles, support, cases)
    return Ways(*(frozen(column[enough], column.dtype.type) for column in columns))


@njit(nogil=True, cache=True)
def _ways(
    heads, tails, relation, offsets, slots, ends, near_ends, near_slots, num_entities, num_slots,
    most,
):  # fmt: skip
    """All paths of one and two steps from each head to its tail, at most so many of a fact."""
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
            step = inverse_of(near_slots[q], num_slots)
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
                out[size, 3] = inverse_of(near_slots[q], num_slots)
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
