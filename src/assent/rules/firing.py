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

from assent.core.arrays import Ids, Keys, offsets_of
from assent.rules.graph import Graph, Links, first_at_least, inverse_of, links_by
from assent.rules.leading import Leading, lead_back, lead_from, lead_on, lead_to, nothing_passed
from assent.rules.mining import PRIOR, RuleSet
from assent.rules.paths import Paths
from assent.rules.spoken import ANCHOR, ENTITY, PATHS, SLOTS, Confidences, speak
from assent.rules.steps import reversed_steps

GROUNDINGS = 4_000  # of a path rule from one anchor, walked; a hub has more


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
    leading: Leading  # rules with a constant after two steps


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
            graph.links,
            Speaking(
                constants.offsets, constants.bodies, confidence, body_offsets, heads, by_body,
                offsets_of(np.bincount(slots, minlength=graph.num_slots)), steps, path_confidence,
                Leading.of(rules.ends, graph, prior),
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
def fire(anchor, slot, links, rules, direct, spoken):
    """All entities that some rule speaks for, as answers of one query.

    Returns how many rows it filled. `forget` makes room for the next query.
    """
    inverse = inverse_of(slot, len(links.slot_items) - 1)
    num_items = len(links.item_slots)
    count = 0
    # What the anchor has.
    for q in range(links.offsets[anchor], links.offsets[anchor + 1]):
        but = -1 if direct else links.ends[q]
        count = _fire_body(anchor, slot, links.items[q], but, ANCHOR, links, rules, spoken, count)
    for q in range(links.slot_offsets[anchor], links.slot_offsets[anchor + 1]):
        body = num_items + links.entity_slots[q]
        but = -1 if direct else only_end(links, anchor, links.entity_slots[q])
        count = _fire_body(anchor, slot, body, but, SLOTS, links, rules, spoken, count)
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
        count = lead_back(anchor, head, links, rules.leading, spoken, count)
    count = lead_on(anchor, slot, links, rules.leading, spoken, count)
    return fire_paths(anchor, slot, links, rules, direct, spoken, count, True)


@njit(nogil=True, cache=True)
def _fire_body(anchor, slot, body, but, kind, links, rules, spoken, count):
    """Rules about a property of the anchor speak for entities of the slot, all but one."""
    high = rules.body_offsets[body + 1]
    place = first_at_least(rules.heads, rules.body_offsets[body], high, links.slot_items[slot])
    while place < high and rules.heads[place] < links.slot_items[slot + 1]:
        entity = links.item_entities[rules.heads[place]]
        if entity != anchor and entity != but:
            count = speak(entity, kind, rules.body_confidence[place], spoken, count, True)
        place += 1
    return count


@njit(nogil=True, cache=True)
def fire_pairs(anchor, slot, entities, links, rules, direct, spoken):
    """Fires all rules for a query at some entities only: `entities` (row,), each of them once."""
    inverse = inverse_of(slot, len(links.slot_items) - 1)
    back = item_of(links, inverse, anchor)
    passed = nothing_passed(slot, rules.leading)
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
            lead_to(anchor, slot, item, links, rules.leading, passed, spoken)
        if back >= 0:
            lead_from(entity, anchor, back, links, rules.leading, spoken)
    fire_paths(anchor, slot, links, rules, direct, spoken, len(entities), False)


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
