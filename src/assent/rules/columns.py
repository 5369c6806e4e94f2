"""What rules and like entities say to candidates, as named columns for a judge."""

# mypy: ignore-errors
# Numba checks the types of the loop, in its own way.

import numpy as np
from numba import njit
from numpy.typing import NDArray

from assent.core.arrays import Ids, pair_keys
from assent.geometry import threads
from assent.rules.firing import Firing, fire_pairs
from assent.rules.likeness import Likeness
from assent.rules.spoken import ANCHOR, ENTITY, KEPT, KINDS, TURNED, Spoken, forget
from assent.rules.together import together

Columns = dict[str, NDArray[np.float32]]


def columns(firing: Firing, likeness: Likeness, anchors: Ids, slots: Ids, entities: Ids) -> Columns:
    """Columns (candidate,) by name, such as `rule_paths_best` and `like_answers`."""
    best, _, total = spoken_for(firing, anchors, slots, entities)
    either = 1 - np.prod(1 - best, axis=2)
    degrees = np.maximum(np.diff(firing.graph.offsets), 1)
    found: Columns = {}
    for kind, name in enumerate(KINDS):
        found[f"rule_{name}_best"] = best[:, kind, 0]
        found[f"rule_{name}_together"] = either[:, kind]
    found["rule_all"] = together(best)
    found["rule_anchor_mean"] = total[:, ANCHOR] / degrees[anchors]
    found["rule_entity_mean"] = total[:, ENTITY] / degrees[entities]
    num_slots = firing.graph.num_slots
    inverse = (slots + num_slots // 2) % num_slots
    for name, asked in {
        "like_answers": (anchors, slots, entities),
        "like_anchors": (entities, inverse, anchors),  # those that have the entity already
    }.items():
        found[name], found[f"{name}_sum"] = likeness.to_answers(*asked)
    return found


def spoken_for(firing: Firing, anchors: Ids, slots: Ids, entities: Ids):
    """For each candidate: confidences (candidate, kind, kept), numbers and sums of rules.

    Candidates of one query are looked at together; they are asked for from that end from which
    there are fewer queries, as the rules that fire are the same.
    """
    num_entities, num_slots = firing.graph.num_entities, firing.graph.num_slots
    inverse = (slots + num_slots // 2) % num_slots
    keys = pair_keys(slots, anchors, num_entities)
    turned = pair_keys(inverse, entities, num_entities)
    turn = len(np.unique(turned)) < len(np.unique(keys))
    if turn:
        keys, anchors, slots, entities = turned, entities, inverse, anchors
    order = np.lexsort((entities, keys))
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1) != 0)
    offsets = np.append(starts, len(order))
    best = np.zeros((len(keys), len(KINDS), KEPT), np.float32)
    number = np.zeros((len(keys), len(KINDS)), np.int32)
    total = np.zeros((len(keys), len(KINDS)), np.float32)

    def work(part: int, parts: int) -> None:
        mine = np.arange(part, len(starts), parts)
        longest = int(np.diff(offsets).max(initial=1))
        _fill(mine, offsets, order, anchors, slots, entities, firing.links, firing.rules,
              firing.direct, Spoken.room(num_entities, longest), best, number, total)  # fmt: skip

    threads.side_by_side(work)
    if turn:
        best, number, total = best[:, TURNED], number[:, TURNED], total[:, TURNED]
    return best, number, total


@njit(nogil=True, cache=True)
def _fill(
    queries, offsets, order, anchors, slots, entities, links, rules, direct, spoken, best, number,
    total,
):  # fmt: skip
    for query in queries:
        candidates = order[offsets[query] : offsets[query + 1]]
        first = candidates[0]
        fire_pairs(anchors[first], slots[first], entities[candidates], links, rules, direct, spoken)
        for row in range(len(candidates)):
            best[candidates[row]] = spoken.best[row]
            number[candidates[row]] = spoken.number[row]
            total[candidates[row]] = spoken.total[row]
        forget(spoken, len(candidates))
