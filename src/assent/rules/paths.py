"""Path rules: r(X, Y) <- s(X, A), t(A, B), u(B, Y), of one to three steps.

No entity stands twice on a path, so that no fact between X and Y is a step of it: neither the fact
that the rule speaks for nor, but for rules of one step, any other between the two.

Bodies are found among the paths between the two entities of known facts, all of one and two steps
and a sample of those of three. Then each body is walked from all entities where it can start, or
from as many drawn ones as a budget allows: of the pairs that it joins (the cases), those that
stand in the relation are its support. Both are counts of real pairs.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, frozen
from assent.geometry import threads
from assent.rules.graph import Graph, links_by

NONE = -1  # instead of a step that is not there
STEPS = 3
HEADS_AT_ONCE = 62  # relations whose pairs are marked by the bits of one number
BODIES_AT_ONCE = 512  # walked before the clock is looked at again


@dataclass(frozen=True, slots=True)
class PathSettings:
    """How much is looked at. More of it finds rarer rules and counts them more exactly."""

    facts: int = 500  # of each relation, between whose entities paths are looked for
    first_links: int = 40  # of the head, for paths of three steps
    second_links: int = 60  # of each of those neighbours, for paths of three steps
    bodies: int = 600  # of each relation and length, those most often found
    steps_walked: int = 30_000  # for each body
    steps: int = STEPS  # of the longest paths
    min_support: int = 2
    min_found: int = 2  # facts between whose entities a body was found


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Rules about relations, asked for from the head; the tail's view is the same path back."""

    relations: Ids  # (rule,)
    steps: Ids  # (rule, 3)   slots; NONE after the last
    support: Ids  # (rule,)
    cases: Ids  # (rule,)
    walked: NDArray[np.float32]  # (rule,)   share of the possible starts that were walked from

    def __len__(self) -> int:
        return len(self.relations)

    @classmethod
    def nothing(cls) -> "Paths":
        empty = frozen([])
        return cls(empty, frozen(np.empty((0, STEPS))), empty, empty, frozen([], np.float32))


def mine_paths(
    graph: Graph,
    settings: PathSettings = PathSettings(),  # noqa: B008  frozen
    seed: int = 0,
    go_on: Callable[[int, int], bool] = lambda done, total: True,
) -> Paths:
    """Rules of at least the support asked for, the bodies most often found first.

    `go_on(done, total)` is told how much of the work is done, and says whether to do more.
    """
    relations, codes, found = _candidates(graph, settings, seed)
    bodies, which = np.unique(codes, return_inverse=True)
    weight = np.bincount(which, found, len(bodies))
    rank = np.empty(len(bodies), np.int64)
    rank[np.argsort(-weight, kind="stable")] = np.arange(len(bodies))
    order = np.lexsort((relations, rank[which]))
    relations, places = relations[order], rank[which][order]
    bodies = bodies[np.argsort(rank)]
    offsets = np.searchsorted(places, np.arange(len(bodies) + 1))
    steps = steps_of_codes(bodies, graph.num_slots)
    cases = np.zeros(len(bodies), np.int64)
    walked = np.zeros(len(bodies), np.float32)
    support = np.zeros(len(relations), np.int64)
    done = 0
    while done < len(bodies) and go_on(done, len(bodies)):
        end = min(done + BODIES_AT_ONCE, len(bodies))
        _walk_all(graph, steps, offsets, relations, settings, seed, done, end,
                  cases, walked, support)  # fmt: skip
        done = end
    kept = np.flatnonzero((support >= settings.min_support) & (places < done))
    return Paths(
        frozen(relations[kept]),
        frozen(steps[places[kept]]),
        frozen(support[kept]),
        frozen(cases[places[kept]]),
        frozen(walked[places[kept]], np.float32),
    )


def count_paths(
    graph: Graph, relation: int, steps: Ids, settings: PathSettings, seed: int = 0
) -> tuple[Keys, Keys]:
    """Support and cases (path,) of these paths (path, 3), as rules about one relation."""
    count = len(steps)
    cases, support = np.zeros(count, np.int64), np.zeros(count, np.int64)
    relations = np.full(count, relation, np.int32)
    _walk_all(graph, np.ascontiguousarray(steps), np.arange(count + 1), relations, settings, seed,
              0, count, cases, np.zeros(count, np.float32), support)  # fmt: skip
    return support, cases


def bodies_of(
    graph: Graph, relation: int, settings: PathSettings, seed: int = 0
) -> tuple[Keys, Keys]:
    """Paths between the entities of known facts of a relation, as numbers, and how often found.

    At most `settings.bodies` of each length, those found most often first.
    """
    base = _codes_base(graph.num_slots)
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


def path_codes(steps: Ids, num_slots: int) -> Keys:  # (path,)
    """Paths (path, 3) as numbers."""
    base = _codes_base(num_slots)
    codes: Keys = (steps.astype(np.int64) + 1) @ base ** np.arange(STEPS, dtype=np.int64)
    return codes


def reversed_steps(steps: Ids, num_slots: int) -> Ids:  # (rule, 3)
    """The same paths walked from the other end."""
    inverse = np.where(steps == NONE, NONE, (steps + num_slots // 2) % num_slots)
    lengths = (steps != NONE).sum(axis=1)
    places = lengths[:, None] - 1 - np.arange(STEPS)
    turned = np.take_along_axis(inverse, np.maximum(places, 0), axis=1)
    return frozen(np.where(places >= 0, turned, NONE))


def _codes_base(num_slots: int) -> int:
    return num_slots + 1


def steps_of_codes(codes: Keys, num_slots: int) -> Ids:  # (path, 3)
    """The steps of paths that are given as numbers."""
    base = _codes_base(num_slots)
    return np.stack([codes // base**k % base - 1 for k in range(STEPS)], axis=1).astype(np.int32)


def _candidates(graph: Graph, settings: PathSettings, seed: int) -> tuple[Ids, Keys, Keys]:
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


def _facts_of(graph: Graph, relation: int) -> tuple[Ids, Ids]:
    """Heads and tails of the facts of a relation."""
    first, last = graph.slot_items[relation], graph.slot_items[relation + 1]
    counts = np.diff(graph.member_offsets[first : last + 1])
    low, high = graph.member_offsets[first], graph.member_offsets[last]
    return graph.members[low:high], np.repeat(graph.item_entities[first:last], counts)


def _walk_all(
    graph, steps, offsets, relations, settings, seed, first, last, cases, walked, support
):
    def walk(part: int, parts: int) -> None:
        _walk(
            np.arange(first + part, last, parts), steps, offsets, relations,
            graph.offsets, graph.slots, graph.ends, graph.member_offsets, graph.members,
            graph.num_items, graph.num_entities, settings.steps_walked, seed,
            cases, walked, support,
        )  # fmt: skip

    threads.side_by_side(walk)


@njit(nogil=True, cache=True)
def _next(state):
    return state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)


@njit(nogil=True, cache=True)
def _between(
    relation, heads, tails, offsets, slots, ends, near_ends, near_slots, num_entities, num_slots,
    first_links, second_links, max_steps, seed,
):  # fmt: skip
    """The bodies that join the two entities of each fact, each once a fact."""
    base = np.int64(num_slots + 1)
    half = num_slots // 2
    there = np.full(num_entities, -1, np.int64)
    room, size = 1 << 12, 0
    out = np.empty(room, np.int64)
    mine = np.empty(1 << 14, np.int64)
    state = np.uint64(seed) ^ (np.uint64(relation + 1) * np.uint64(0x9E3779B97F4A7C15))
    for i in range(len(heads)):
        x, y = heads[i], tails[i]
        low, high = offsets[y], offsets[y + 1]
        for q in range(high - 1, low - 1, -1):
            there[near_ends[q]] = q  # the first link from y to this neighbour
        found = 0
        q = there[x]
        while 0 <= q < high and near_ends[q] == x and found < len(mine):
            step = (near_slots[q] + half) % num_slots
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
                step = (near_slots[q] + half) % num_slots
                mine[found] = slots[p] + 1 + base * (step + 1)
                found += 1
                q += 1
        some = x_high - x_low > first_links
        for k in range(min(first_links, x_high - x_low) if max_steps > 2 else 0):
            p = x_low + k
            if some:
                state = _next(state)
                p = x_low + np.int64((state >> np.uint64(33)) % np.uint64(x_high - x_low))
            a = ends[p]
            if a == y:
                continue
            a_low, a_high = offsets[a], offsets[a + 1]
            few = a_high - a_low > second_links
            for m in range(min(second_links, a_high - a_low)):
                o = a_low + m
                if few:
                    state = _next(state)
                    o = a_low + np.int64((state >> np.uint64(33)) % np.uint64(a_high - a_low))
                b = ends[o]
                if b in (x, y):
                    continue
                q = there[b]
                while 0 <= q < high and near_ends[q] == b and found < len(mine):
                    step = (near_slots[q] + half) % num_slots
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


@njit(nogil=True, cache=True)
def _walk(
    bodies, steps, head_offsets, relations, offsets, slots, ends, member_offsets, members,
    num_items, num_entities, budget, seed, cases, walked, support,
):  # fmt: skip
    """Counts the pairs that each body joins, and those of them in each of its relations."""
    stamp = np.full(num_entities, -1, np.int64)
    stamps = np.int64(0)
    marks = np.zeros(num_entities, np.int64)
    for body in bodies:
        s1, s2, s3 = steps[body, 0], steps[body, 1], steps[body, 2]
        low, high = member_offsets[num_items + s1], member_offsets[num_items + s1 + 1]
        starts = members[low:high].copy()
        code = (s1 + 1) + (s2 + 1) * 1_000_003 + (s3 + 1) * 998_244_353  # the same in any list
        state = np.uint64(seed) ^ (np.uint64(code) * np.uint64(0x9E3779B97F4A7C15))
        spent, done = 0, 0
        heads_low, heads_high = head_offsets[body], head_offsets[body + 1]
        while done < len(starts) and (spent < budget or s2 < 0):
            state = _next(state)
            pick = done + np.int64((state >> np.uint64(33)) % np.uint64(len(starts) - done))
            x = starts[pick]
            starts[pick] = starts[done]
            done += 1
            for group in range(heads_low, heads_high, HEADS_AT_ONCE):
                group_end = min(group + HEADS_AT_ONCE, heads_high)
                for h in range(group, group_end):
                    r_low, r_high = links_by(offsets, slots, x, relations[h])
                    for q in range(r_low, r_high):
                        marks[ends[q]] |= np.int64(1) << np.int64(h - group)
                stamps += 1
                pairs = 0
                p_low, p_high = links_by(offsets, slots, x, s1)
                for p in range(p_low, p_high):
                    a = ends[p]
                    if s2 < 0:
                        spent += 1
                        pairs += 1
                        _hit(marks[a], group, support)
                        continue
                    q_low, q_high = links_by(offsets, slots, a, s2)
                    for q in range(q_low, q_high):
                        b = ends[q]
                        if b == x:
                            continue
                        if s3 < 0:
                            spent += 1
                            if stamp[b] != stamps:
                                stamp[b] = stamps
                                pairs += 1
                                _hit(marks[b], group, support)
                            continue
                        o_low, o_high = links_by(offsets, slots, b, s3)
                        spent += 1
                        for o in range(o_low, o_high):
                            y = ends[o]
                            spent += 1
                            if y != x and y != a and stamp[y] != stamps:
                                stamp[y] = stamps
                                pairs += 1
                                _hit(marks[y], group, support)
                if group == heads_low:
                    cases[body] += pairs
                for h in range(group, group_end):
                    r_low, r_high = links_by(offsets, slots, x, relations[h])
                    for q in range(r_low, r_high):
                        marks[ends[q]] = 0
        walked[body] = done / max(len(starts), 1)


@njit(nogil=True, cache=True)
def _hit(bits, group, support):
    """One more pair for each relation whose bit is set."""
    while bits:
        low = bits & -bits
        place = 0
        while low > 1:
            low >>= 1
            place += 1
        support[group + place] += 1
        bits &= bits - 1
