"""Bodies of path rules, found among the paths between the two entities of known facts.

All of one and two steps are found, and a sample of those of three. No entity stands twice on a
path, so that no fact between the two is a step of it: neither the fact that the rule speaks for
nor, but for rules of one step, any other.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from dataclasses import dataclass

import numpy as np
from numba import njit

from assent.core.arrays import Ids, Keys, frozen
from assent.geometry import threads
from assent.rules.drawing import drawn_below, first_state, next_state
from assent.rules.graph import Graph, inverse_of
from assent.rules.steps import STEPS, codes_base
from assent.rules.walking import STEPS_WALKED


@dataclass(frozen=True, slots=True)
class PathSettings:
    """How much is looked at. More of it finds rarer rules and counts them more exactly."""

    facts: int = 500  # of each relation, between whose entities paths are looked for
    first_links: int = 40  # of the head, for paths of three steps
    second_links: int = 60  # of each of those neighbours, for paths of three steps
    bodies: int = 600  # of each relation and length, those most often found
    steps_walked: int = STEPS_WALKED  # for each body
    steps: int = STEPS  # of the longest paths
    min_support: int = 2
    min_found: int = 2  # facts between whose entities a body was found


def all_bodies(graph: Graph, settings: PathSettings, seed: int) -> tuple[Ids, Keys, Keys]:
    """Relations, bodies as numbers, and between how many facts of the sample each was found."""

    def search(part: int, parts: int):
        relations = range(part, graph.num_slots // 2, parts)
        return [(relation, *bodies_of(graph, relation, settings, seed)) for relation in relations]

    found = [part for parts in threads.side_by_side(search) for part in parts]
    found.sort(key=lambda part: part[0])  # however many threads there were
    if not found:
        return frozen([]), np.empty(0, np.int64), np.empty(0, np.int64)
    relations = np.concatenate([np.full(len(codes), r, np.int32) for r, codes, _ in found])
    return (
        relations,
        np.concatenate([codes for _, codes, _ in found]),
        np.concatenate([times for *_, times in found]),
    )


def bodies_of(
    graph: Graph, relation: int, settings: PathSettings, seed: int = 0
) -> tuple[Keys, Keys]:
    """Paths between the entities of known facts of a relation, as numbers, and how often found.

    At most `settings.bodies` of each length, those found most often first.
    """
    base = codes_base(graph.num_slots)
    heads, tails = _facts_of(graph, relation)
    if len(heads) > settings.facts:
        rng = np.random.default_rng((seed, relation))
        drawn = np.sort(rng.choice(len(heads), settings.facts, replace=False))
        heads, tails = heads[drawn], tails[drawn]
    codes = _between(
        relation, heads, tails, graph.offsets, graph.slots, graph.ends, graph.near_ends,
        graph.near_slots, graph.num_entities, graph.num_slots, settings.first_links,
        settings.second_links, settings.steps, seed,
    )  # fmt: skip
    codes, times = np.unique(codes, return_counts=True)
    enough = times >= min(settings.min_found, max(len(heads) - 1, 1))
    codes, times = codes[enough], times[enough]
    lengths = 1 + (codes >= base) + (codes >= base**2)
    best = []
    for length in range(1, STEPS + 1):
        mine = np.flatnonzero(lengths == length)
        best.append(mine[np.argsort(-times[mine], kind="stable")][: settings.bodies])
    kept = np.concatenate(best)
    return codes[kept], times[kept]


def _facts_of(graph: Graph, relation: int) -> tuple[Ids, Ids]:
    """Heads and tails of the facts of a relation."""
    first, last = graph.slot_items[relation], graph.slot_items[relation + 1]
    counts = np.diff(graph.member_offsets[first : last + 1])
    low, high = graph.member_offsets[first], graph.member_offsets[last]
    return graph.members[low:high], np.repeat(graph.item_entities[first:last], counts)


@njit(nogil=True, cache=True)
def _between(
    relation, heads, tails, offsets, slots, ends, near_ends, near_slots, num_entities, num_slots,
    first_links, second_links, max_steps, seed,
):  # fmt: skip
    """The bodies that join the two entities of each fact, each once a fact."""
    base = np.int64(num_slots + 1)
    there = np.full(num_entities, -1, np.int64)
    room, size = 1 << 12, 0
    out = np.empty(room, np.int64)
    mine = np.empty(1 << 14, np.int64)
    state = first_state(seed, relation + 1)
    for i in range(len(heads)):
        x, y = heads[i], tails[i]
        low, high = offsets[y], offsets[y + 1]
        for q in range(high - 1, low - 1, -1):
            there[near_ends[q]] = q  # the first link from y to this neighbour
        found = 0
        q = there[x]
        while 0 <= q < high and near_ends[q] == x and found < len(mine):
            step = inverse_of(near_slots[q], num_slots)
            if step != relation:
                mine[found] = step + 1
                found += 1
            q += 1
        x_low, x_high = offsets[x], offsets[x + 1]
        for p in range(x_low, x_high if max_steps > 1 else x_low):
            a = ends[p]
            if a == y:
                continue
            q = there[a]
            while 0 <= q < high and near_ends[q] == a and found < len(mine):
                step = inverse_of(near_slots[q], num_slots)
                mine[found] = slots[p] + 1 + base * (step + 1)
                found += 1
                q += 1
        some = x_high - x_low > first_links
        for k in range(min(first_links, x_high - x_low) if max_steps > 2 else 0):
            p = x_low + k
            if some:
                state = next_state(state)
                p = x_low + drawn_below(state, x_high - x_low)
            a = ends[p]
            if a == y:
                continue
            a_low, a_high = offsets[a], offsets[a + 1]
            few = a_high - a_low > second_links
            for m in range(min(second_links, a_high - a_low)):
                o = a_low + m
                if few:
                    state = next_state(state)
                    o = a_low + drawn_below(state, a_high - a_low)
                b = ends[o]
                if b in (x, y):
                    continue
                q = there[b]
                while 0 <= q < high and near_ends[q] == b and found < len(mine):
                    step = inverse_of(near_slots[q], num_slots)
                    mine[found] = slots[p] + 1 + base * (slots[o] + 1) + base * base * (step + 1)
                    found += 1
                    q += 1
        for q in range(low, high):
            there[near_ends[q]] = -1
        chosen = np.sort(mine[:found])
        while size + found > room:
            longer = np.empty(2 * room, np.int64)
            longer[:size] = out[:size]
            out, room = longer, 2 * room
        for k in range(found):
            if k == 0 or chosen[k] != chosen[k - 1]:
                out[size] = chosen[k]
                size += 1
    return out[:size].copy()
