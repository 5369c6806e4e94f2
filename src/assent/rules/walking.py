"""Support and cases of path rules, by walking their bodies.

A body is walked from all entities where it can start, or from as many drawn ones as a budget
allows. Of the pairs that it joins (the cases), those that stand in the relation are its support:
both are counts of real pairs.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

import numpy as np
from numba import njit

from assent.core.arrays import Ids, Keys
from assent.geometry import threads
from assent.rules.drawing import drawn_below, first_state, next_state
from assent.rules.graph import Graph, links_by

HEADS_AT_ONCE = 62  # relations whose pairs are marked by the bits of one number
STEPS_WALKED = 30_000  # for each body


def count_paths(graph: Graph, relation: int, steps: Ids) -> tuple[Keys, Keys]:
    """Support and cases (path,) of these paths (path, 3), as rules about one relation."""
    count = len(steps)
    cases, support = np.zeros(count, np.int64), np.zeros(count, np.int64)
    relations = np.full(count, relation, np.int32)
    walk_all(graph, np.ascontiguousarray(steps), np.arange(count + 1), relations, STEPS_WALKED,
             0, 0, count, cases, np.zeros(count, np.float32), support)  # fmt: skip
    return support, cases


def walk_all(
    graph, steps, offsets, relations, steps_walked, seed, first, last, cases, walked, support
):
    """Fills in the numbers of the bodies from `first` to `last`.

    The rules of a body are relations[offsets[body]:offsets[body + 1]], and `support` (rule,) is
    theirs; `cases` (body,), and `walked` (body,): the share of its starts that were walked from.
    """

    def walk(part: int, parts: int) -> None:
        _walk(
            np.arange(first + part, last, parts), steps, offsets, relations,
            graph.offsets, graph.slots, graph.ends, graph.member_offsets, graph.members,
            graph.num_items, graph.num_entities, steps_walked, seed,
            cases, walked, support,
        )  # fmt: skip

    threads.side_by_side(walk)


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
        state = first_state(seed, code)
        spent, done = 0, 0
        heads_low, heads_high = head_offsets[body], head_offsets[body + 1]
        while done < len(starts) and (spent < budget or s2 < 0):
            state = next_state(state)
            pick = done + drawn_below(state, len(starts) - done)
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
