"""Which rules fire for a candidate: the best few of each kind, for one query or for pairs.

A candidate (anchor, slot, entity) is spoken for by rules of six kinds: constants that the anchor
has, constants that the entity has (the same rules, about the inverse slot), what either has with
anyone, paths from anchor to entity, and constants two steps from the anchor, or from the entity.
Of each kind the KEPT highest confidences are kept, with the number and the sum of all. A candidate
asked for from its other end is spoken for by the very same rules.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, offsets_of, rows_of
from assent.rules.ends import NOBODY, Ends, reached
from assent.rules.graph import Graph, first_at_least, links_by
from assent.rules.mining import PRIOR as PRIOR
from assent.rules.mining import RuleSet
from assent.rules.paths import Paths, reversed_steps

KINDS = ("anchor", "entity", "slots", "paths", "anchor_ends", "entity_ends")
ANCHOR, ENTITY, SLOTS, PATHS, ANCHOR_ENDS, ENTITY_ENDS = range(len(KINDS))
TURNED = [ENTITY, ANCHOR, SLOTS, PATHS, ENTITY_ENDS, ANCHOR_ENDS]  # asked for from the other end
UNKNOWN = -3  # instead of a Z, while nobody has looked for it
KEPT = 5  # confidences of a candidate and kind
GROUNDINGS = 4_000  # of a path rule from one anchor, walked; a hub has more

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


class Spoken(NamedTuple):
    """What rules say to candidates: a row each, in the order in which `entities` lists them."""

    rows: Ids  # (any entity,)     its row; -1: none
    entities: Ids  # (row,)
    best: Confidences  # (row, kind, kept)   falling
    number: Ids  # (row, kind)     rules that fire
    total: Confidences  # (row, kind)   the sum of their confidences

    @classmethod
    def room(cls, num_entities: int, num_rows: int, kept: int = KEPT) -> "Spoken":
        return cls(
            np.full(num_entities, -1, np.int32),
            np.empty(num_rows, np.int32),
            np.zeros((num_rows, len(KINDS), kept), np.float32),
            np.zeros((num_rows, len(KINDS)), np.int32),
            np.zeros((num_rows, len(KINDS)), np.float32),
        )


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
    end_offsets: Keys  # (item + 1,)        rules with a constant after two steps, by head
    end_slots: Ids  # (end,)
    end_items: Ids  # (end,)
    end_bodies: Ids  # (end,)               the bodies of all heads of one slot, numbered
    end_confidence: Confidences  # (end,)   falling within a head
    bodies_of_slot: Keys  # (slot,)         how many different ones


@dataclass(frozen=True, slots=True, eq=False)
class Firing:
    """Rules ready to be applied."""

    graph: Graph
    links: Links
    rules: Speaking
    direct: bool  # whether facts between anchor and entity may speak for another

    @classmethod
    def of(cls, rules: RuleSet, direct: bool = True, prior: float = PRIOR) -> "Firing":
        graph, constants, paths = rules.graph, rules.constants, rules.paths
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
                *_ends(rules.ends, graph, prior),
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


def _ends(ends: Ends, graph: Graph, prior: float):
    """Rules with a constant after two steps, and their bodies numbered within the head's slot."""
    asked = graph.item_slots[rows_of(ends.offsets)].astype(np.int64)
    codes = (asked * graph.num_slots + ends.slots) * graph.num_items + ends.items
    different, numbers = np.unique(codes, return_inverse=True)
    slots = different // max(graph.num_slots * graph.num_items, 1)
    counts = np.bincount(slots, minlength=graph.num_slots)
    bodies = (numbers - offsets_of(counts)[asked]).astype(np.int32)
    confidence = (ends.support / (ends.cases + prior)).astype(np.float32)
    return ends.offsets, ends.slots, ends.items, bodies, confidence, counts


@njit(nogil=True, cache=True)
def _turn(offsets, bodies, confidence, next_place, heads, by_body):
    for head in range(len(offsets) - 1):
        for rule in range(offsets[head], offsets[head + 1]):
            place = next_place[bodies[rule]]
            next_place[bodies[rule]] += 1
            heads[place], by_body[place] = head, confidence[rule]


@njit(nogil=True, cache=True)
def insert(best, confidence):
    """Keeps a confidence in `best` (kept,), which falls, if it is one of the highest."""
    place = len(best) - 1
    if confidence <= best[place]:
        return
    while place > 0 and confidence > best[place - 1]:
        best[place] = best[place - 1]
        place -= 1
    best[place] = confidence


@njit(nogil=True, cache=True)
def speak(entity, kind, confidence, spoken, count, grow):
    """One more rule for an entity. Returns the number of rows; a new one only if they may grow."""
    row = spoken.rows[entity]
    if row < 0:
        if not grow:
            return count
        row = count
        spoken.rows[entity], spoken.entities[row] = row, entity
        spoken.best[row], spoken.number[row], spoken.total[row] = 0, 0, 0
        count += 1
    insert(spoken.best[row, kind], confidence)
    spoken.number[row, kind] += 1
    spoken.total[row, kind] += confidence
    return count


@njit(nogil=True, cache=True)
def fire(anchor, slot, links, rules, direct, spoken):
    """All entities that some rule speaks for, as answers of one query.

    Returns how many rows it filled. `forget` makes room for the next query.
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
                count = speak(entity, ANCHOR, rules.body_confidence[place], spoken, count, True)
            place += 1
    for q in range(links.slot_offsets[anchor], links.slot_offsets[anchor + 1]):
        body = num_items + links.entity_slots[q]
        only = only_end(links, anchor, links.entity_slots[q])
        high = rules.body_offsets[body + 1]
        place = first_at_least(rules.heads, rules.body_offsets[body], high, first_head)
        while place < high and rules.heads[place] < last_head:
            entity = links.item_entities[rules.heads[place]]
            if entity != anchor and (direct or entity != only):
                count = speak(entity, SLOTS, rules.body_confidence[place], spoken, count, True)
            place += 1
    # What the entities have, whose rules speak for having the anchor.
    head = item_of(links, inverse, anchor)
    if head >= 0:
        for place in range(rules.head_offsets[head], rules.head_offsets[head + 1]):
            body, confidence = rules.bodies[place], rules.head_confidence[place]
            kind = ENTITY if body < num_items else SLOTS
            if kind == ENTITY and not direct and links.item_entities[body] == anchor:
                continue
            for m in range(links.member_offsets[body], links.member_offsets[body + 1]):
                entity = links.members[m]
                if entity == anchor:
                    continue
                if (
                    kind == SLOTS
                    and not direct
                    and only_end(links, entity, body - num_items) == anchor
                ):
                    continue
                count = speak(entity, kind, confidence, spoken, count, True)
        count = _lead_back(anchor, head, links, rules, spoken, count)
    passed = _passed(slot, rules)
    for item in range(first_head, last_head):
        count = _lead_on(anchor, item, links, rules, passed, spoken, count, True)
    return fire_paths(anchor, slot, links, rules, direct, spoken, count, True)


@njit(nogil=True, cache=True)
def fire_pairs(anchor, slot, entities, links, rules, direct, spoken):
    """The same for some entities only, those at `entities` (row,), no two of them the same."""
    half = (len(links.slot_items) - 1) // 2
    inverse = (slot + half) % (2 * half)
    back = item_of(links, inverse, anchor)
    passed = _passed(slot, rules)
    for row in range(len(entities)):
        entity = entities[row]
        spoken.rows[entity], spoken.entities[row] = row, entity
        spoken.best[row], spoken.number[row], spoken.total[row] = 0, 0, 0
        if entity == anchor:
            spoken.rows[entity] = -1  # of a fact of an entity with itself, rules say nothing
            continue
        item = item_of(links, slot, entity)
        _compare(anchor, item, entity, ANCHOR, links, rules, direct, spoken, row)
        _compare(entity, back, anchor, ENTITY, links, rules, direct, spoken, row)
        if item >= 0:
            _lead_on(anchor, item, links, rules, passed, spoken, 0, False)
        if back >= 0:
            for rule in range(rules.end_offsets[back], rules.end_offsets[back + 1]):
                z = _past(entity, rule, links, rules)
                if z != NOBODY and z != anchor:
                    speak(entity, ENTITY_ENDS, rules.end_confidence[rule], spoken, 0, False)
    fire_paths(anchor, slot, links, rules, direct, spoken, len(entities), False)


@njit(nogil=True, cache=True)
def forget(spoken, count):
    """Makes room for the next query."""
    for row in range(count):
        spoken.rows[spoken.entities[row]] = -1


@njit(nogil=True, cache=True)
def item_of(links, slot, entity):
    """The number of the item (slot, entity), or -1."""
    high = links.slot_items[slot + 1]
    item = first_at_least(links.item_entities, links.slot_items[slot], high, entity)
    return item if item < high and links.item_entities[item] == entity else -1


@njit(nogil=True, cache=True)
def only_end(links, entity, slot):
    """The only one that an entity has a slot with; -1 where there are more."""
    low, high = links_by(links.offsets, links.slots, entity, slot)
    return links.ends[low] if high - low == 1 else -1


@njit(nogil=True, cache=True)
def _compare(who, head, other, kind, links, rules, direct, spoken, row):
    """The rules that speak for an item and whose property `who` has; both are ascending lists."""
    if head < 0:
        return
    place, high = rules.head_offsets[head], rules.head_offsets[head + 1]
    num_items = len(links.item_slots)
    for q in range(links.offsets[who], links.offsets[who + 1]):
        body = links.items[q]
        place = first_at_least(rules.bodies, place, high, body)
        if place == high:
            return
        if rules.bodies[place] == body and (direct or links.ends[q] != other):
            confidence = rules.head_confidence[place]
            speak(spoken.entities[row], kind, confidence, spoken, 0, False)
    for q in range(links.slot_offsets[who], links.slot_offsets[who + 1]):
        body = num_items + links.entity_slots[q]
        place = first_at_least(rules.bodies, place, high, body)
        if place == high:
            return
        if rules.bodies[place] == body and (
            direct or only_end(links, who, links.entity_slots[q]) != other
        ):
            confidence = rules.head_confidence[place]
            speak(spoken.entities[row], SLOTS, confidence, spoken, 0, False)


@njit(nogil=True, cache=True)
def _passed(slot, rules):
    """Room to remember by which Z each body holds for one entity (body of the slot,)."""
    return np.full(rules.bodies_of_slot[slot], UNKNOWN, np.int32)


@njit(nogil=True, cache=True)
def _past(who, rule, links, rules):
    """By which Z the body of a rule with a constant after two steps holds for an entity."""
    return reached(
        links.offsets, links.slots, links.ends, links.items, links.item_entities,
        links.member_offsets, links.members, who, rules.end_slots[rule], rules.end_items[rule],
    )  # fmt: skip


@njit(nogil=True, cache=True)
def _lead_on(anchor, head, links, rules, passed, spoken, count, grow):
    """The rules with a constant after two steps that speak for the anchor having an item.

    They lead past the entity of the item; `passed` remembers what holds for the anchor.
    """
    entity = links.item_entities[head]
    if entity == anchor:
        return count
    for rule in range(rules.end_offsets[head], rules.end_offsets[head + 1]):
        body = rules.end_bodies[rule]
        if passed[body] == UNKNOWN:
            passed[body] = _past(anchor, rule, links, rules)
        if passed[body] != NOBODY and passed[body] != entity:
            confidence = rules.end_confidence[rule]
            count = speak(entity, ANCHOR_ENDS, confidence, spoken, count, grow)
    return count


@njit(nogil=True, cache=True)
def _lead_back(anchor, head, links, rules, spoken, count):
    """The same for all entities for which some body holds that speaks for having the anchor."""
    half = (len(links.slot_items) - 1) // 2
    said = np.full(len(spoken.rows), -1, np.int32)  # the last rule that spoke for each entity
    for rule in range(rules.end_offsets[head], rules.end_offsets[head + 1]):
        item = rules.end_items[rule]
        back = (rules.end_slots[rule] + half) % (2 * half)
        for m in range(links.member_offsets[item], links.member_offsets[item + 1]):
            z = links.members[m]
            if z == anchor:
                continue
            low, high = links_by(links.offsets, links.slots, z, back)
            for q in range(low, high):
                x = links.ends[q]
                if x != anchor and x != links.item_entities[item] and said[x] != rule:
                    said[x] = rule
                    confidence = rules.end_confidence[rule]
                    count = speak(x, ENTITY_ENDS, confidence, spoken, count, True)
    return count


@njit(nogil=True, cache=True)
def fire_paths(anchor, slot, links, rules, direct, spoken, count, grow):
    """Walks the path rules of the slot from the anchor, the surest first."""
    offsets, slots, ends = links.offsets, links.slots, links.ends
    said = np.full(len(spoken.rows), -1, np.int32)  # the last rule that spoke for each entity
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
                count = speak(a, PATHS, confidence, spoken, count, grow)
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
                        count = speak(b, PATHS, confidence, spoken, count, grow)
                    continue
                o_low, o_high = links_by(offsets, slots, b, s3)
                for o in range(o_low, o_high):
                    y = ends[o]
                    spent += 1
                    if y != anchor and y != a and said[y] != rule:
                        said[y] = rule
                        count = speak(y, PATHS, confidence, spoken, count, grow)
    return count
