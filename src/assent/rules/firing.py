"""Which rules fire for a candidate: the best few of each kind, for one query or for pairs.

A candidate (anchor, slot, entity) is spoken for by rules of four kinds: constants that the anchor
has, constants that the entity has (the same rules, about the inverse slot), what either has with
anyone, and paths from anchor to entity. Of each kind the KEPT highest confidences are kept, with
the number and the sum of all. A candidate asked for from its other end is spoken for by the very
same rules.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, frozen, offsets_of
from assent.rules.constants import Constants
from assent.rules.graph import Graph, first_at_least, linked, links_by
from assent.rules.paths import Paths, reversed_steps

KINDS = ("anchor", "entity", "slots", "paths")
ANCHOR, ENTITY, SLOTS, PATHS = range(len(KINDS))
KEPT = 5  # confidences of a candidate and kind
PRIOR = 5.0  # cases against a rule, before any is counted
GROUNDINGS = 20_000  # of a path rule from one anchor; a hub has more, which say little

Confidences = NDArray[np.float32]


class Links(NamedTuple):
    """The graph as compiled loops take it."""

    offsets: Keys
    slots: Ids
    ends: Ids
    items: Ids
    slot_offsets: Keys
    entity_slots: Ids
    item_slots: Ids
    item_entities: Ids
    slot_items: Keys
    member_offsets: Keys
    members: Ids


class Speaking(NamedTuple):
    """The rules as compiled loops take them."""

    head_offsets: Keys  # (item + 1,)       rules with constants, by what they speak for
    bodies: Ids  # (rule,)
    head_confidence: Confidences  # (rule,)
    body_offsets: Keys  # (property + 1,)   the same rules, by what speaks
    heads: Ids  # (rule,)                   ascending within a body
    body_confidence: Confidences  # (rule,)
    path_offsets: Keys  # (slot + 1,)       path rules, by the slot they speak for
    steps: Ids  # (path, 3)
    path_confidence: Confidences  # (path,) falling within a slot


@dataclass(frozen=True, slots=True, eq=False)
class Firing:
    """Rules ready to be applied."""

    graph: Graph
    links: Links
    rules: Speaking
    direct: bool  # whether facts between anchor and entity may speak for another

    @classmethod
    def of(
        cls, graph: Graph, constants: Constants, paths: Paths, direct: bool = True,
        prior: float = PRIOR,
    ) -> "Firing":  # fmt: skip
        sizes = graph.sizes
        confidence = (constants.support / (sizes[constants.bodies] + prior)).astype(np.float32)
        body_offsets = offsets_of(np.bincount(constants.bodies, minlength=graph.num_properties))
        heads = np.empty(len(constants), np.int32)
        by_body = np.empty(len(constants), np.float32)
        _turn(constants.offsets, constants.bodies, confidence, body_offsets.copy(), heads, by_body)
        slots, steps, path_confidence = _both_directions(paths, graph.num_slots, prior)
        return cls(
            graph,
            Links(
                graph.offsets, graph.slots, graph.ends, graph.items, graph.slot_offsets,
                graph.entity_slots, graph.item_slots, graph.item_entities, graph.slot_items,
                graph.member_offsets, graph.members,
            ),
            Speaking(
                constants.offsets, constants.bodies, confidence, body_offsets, heads, by_body,
                offsets_of(np.bincount(slots, minlength=graph.num_slots)), steps, path_confidence,
            ),
            direct,
        )  # fmt: skip


def _both_directions(paths: Paths, num_slots: int, prior: float):
    """Path rules for every slot, the surest first."""
    slots = np.concatenate([paths.relations, paths.relations + num_slots // 2])
    steps = np.concatenate([paths.steps, reversed_steps(paths.steps, num_slots)])
    confidence = np.tile((paths.support / (paths.cases + prior)).astype(np.float32), 2)
    order = np.lexsort((*steps.T, -confidence, slots))
    return slots[order], np.ascontiguousarray(steps[order]), confidence[order]


@njit(nogil=True, cache=True)
def _turn(offsets, bodies, confidence, next_place, heads, by_body):
    for head in range(len(offsets) - 1):
        for rule in range(offsets[head], offsets[head + 1]):
            place = next_place[bodies[rule]]
            next_place[bodies[rule]] += 1
            heads[place], by_body[place] = head, confidence[rule]


@njit(nogil=True, cache=True)
def insert(best, row, kind, confidence):
    """Keeps a confidence (row, kind, kept) in falling order, if it is one of the highest."""
    last = best.shape[2] - 1
    if confidence <= best[row, kind, last]:
        return
    place = last
    while place > 0 and confidence > best[row, kind, place - 1]:
        best[row, kind, place] = best[row, kind, place - 1]
        place -= 1
    best[row, kind, place] = confidence


@njit(nogil=True, cache=True)
def fire(anchor, slot, links, rules, direct, best, touched, seen, number, total):
    """All entities that some rule speaks for, as answers of one query.

    Fills `best` (entity, kind, kept), `number` and `total` (entity, kind), which are zero before,
    and lists the entities in `touched`, marked in `seen` (entity,). Returns how many there are.
    """
    half = (len(links.slot_items) - 1) // 2
    inverse = (slot + half) % (2 * half)
    num_items = len(links.item_slots)
    count = 0
    first_head, last_head = links.slot_items[slot], links.slot_items[slot + 1]
    # What the anchor has.
    for q in range(links.offsets[anchor], links.offsets[anchor + 1]):
        body, other = links.items[q], links.ends[q]
        high = rules.body_offsets[body + 1]
        place = first_at_least(rules.heads, rules.body_offsets[body], high, first_head)
        while place < high and rules.heads[place] < last_head:
            entity = links.item_entities[rules.heads[place]]
            if entity != anchor and (direct or entity != other):
                count = _speak(entity, ANCHOR, rules.body_confidence[place],
                               best, touched, seen, number, total, count)  # fmt: skip
            place += 1
    for q in range(links.slot_offsets[anchor], links.slot_offsets[anchor + 1]):
        body = num_items + links.entity_slots[q]
        low, high = links_by(links.offsets, links.slots, anchor, links.entity_slots[q])
        only = links.ends[low] if high - low == 1 else -1
        high = rules.body_offsets[body + 1]
        place = first_at_least(rules.heads, rules.body_offsets[body], high, first_head)
        while place < high and rules.heads[place] < last_head:
            entity = links.item_entities[rules.heads[place]]
            if entity != anchor and (direct or entity != only):
                count = _speak(entity, SLOTS, rules.body_confidence[place],
                               best, touched, seen, number, total, count)  # fmt: skip
            place += 1
    # What the entities have, whose rules speak for having the anchor.
    head = first_at_least(
        links.item_entities, links.slot_items[inverse], links.slot_items[inverse + 1], anchor
    )
    if head < links.slot_items[inverse + 1] and links.item_entities[head] == anchor:
        for place in range(rules.head_offsets[head], rules.head_offsets[head + 1]):
            body, confidence = rules.bodies[place], rules.head_confidence[place]
            kind = ENTITY if body < num_items else SLOTS
            if kind == ENTITY and not direct and links.item_entities[body] == anchor:
                continue
            for m in range(links.member_offsets[body], links.member_offsets[body + 1]):
                entity = links.members[m]
                if entity == anchor:
                    continue
                if kind == SLOTS and not direct:
                    by = body - num_items
                    low, high = links_by(links.offsets, links.slots, entity, by)
                    if high - low == 1 and links.ends[low] == anchor:
                        continue
                count = _speak(entity, kind, confidence, best, touched, seen, number, total, count)
    return _fire_paths(anchor, slot, links, rules, direct, best, touched, seen, number, total, count)


@njit(nogil=True, cache=True)
def _speak(entity, kind, confidence, best, touched, seen, number, total, count):
    if not seen[entity]:
        seen[entity] = True
        touched[count] = entity
        count += 1
    insert(best, entity, kind, confidence)
    number[entity, kind] += 1
    total[entity, kind] += confidence
    return count


@njit(nogil=True, cache=True)
def _fire_paths(anchor, slot, links, rules, direct, best, touched, seen, number, total, count):
    """Walks the path rules of the slot from the anchor."""
    offsets, slots, ends = links.offsets, links.slots, links.ends
    said = np.full(len(seen), -1, np.int32)  # the last rule that spoke for each entity
    for rule in range(rules.path_offsets[slot], rules.path_offsets[slot + 1]):
        s1, s2, s3 = rules.steps[rule, 0], rules.steps[rule, 1], rules.steps[rule, 2]
        if s2 < 0 and not direct:
            continue
        confidence = rules.path_confidence[rule]
        spent = 0
        p_low, p_high = links_by(offsets, slots, anchor, s1)
        for p in range(p_low, p_high):
            a = ends[p]
            if s2 < 0:
                count = _speak(a, PATHS, confidence, best, touched, seen, number, total, count)
                continue
            if spent > GROUNDINGS:
                break
            q_low, q_high = links_by(offsets, slots, a, s2)
            for q in range(q_low, q_high):
                b = ends[q]
                spent += 1
                if b == anchor:
                    continue
                if s3 < 0:
                    if said[b] != rule:
                        said[b] = rule
                        count = _speak(b, PATHS, confidence, best, touched, seen, number, total,
                                       count)  # fmt: skip
                    continue
                o_low, o_high = links_by(offsets, slots, b, s3)
                for o in range(o_low, o_high):
                    y = ends[o]
                    spent += 1
                    if y != anchor and y != a and said[y] != rule:
                        said[y] = rule
                        count = _speak(y, PATHS, confidence, best, touched, seen, number, total,
                                       count)  # fmt: skip
    return count
