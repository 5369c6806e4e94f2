"""Firing rules with a constant after two steps: r(X, e) <- s(X, Z), t(Z, c).

For all entities at once the rules are not tried one after another: from the anchor by s to each Z,
whose items (t, c) are met with the bodies that rules of the slot have. Candidates that are given
try the rules of their own head alone.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from typing import NamedTuple

import numpy as np
from numba import njit

from assent.core.arrays import Ids, Keys, offsets_of, rows_of
from assent.rules.ends import NOBODY, SEVERAL, Ends, reached
from assent.rules.graph import Graph, first_at_least, inverse_of, links_by
from assent.rules.spoken import ANCHOR_ENDS, ENTITY_ENDS, Confidences, speak

UNKNOWN = -3  # instead of a Z, while nobody has looked for it


class Leading(NamedTuple):
    """The rules as compiled loops take them. A body has a number for each slot that it serves."""

    offsets: Keys  # (item + 1,)            by head
    bodies: Ids  # (rule,)
    confidence: Confidences  # (rule,)      falling within a head
    slot_bodies: Keys  # (slot + 1,)        the bodies of rules that speak for a slot
    slots: Ids  # (body,)                   ascending within a slot
    items: Ids  # (body,)                   ascending within these
    body_offsets: Keys  # (body + 1,)       the rules again, by body
    heads: Ids  # (rule,)
    body_confidence: Confidences  # (rule,)

    @classmethod
    def of(cls, ends: Ends, graph: Graph, prior: float) -> "Leading":
        heads = rows_of(ends.offsets)
        asked = graph.item_slots[heads].astype(np.int64)
        codes = (asked * graph.num_slots + ends.slots) * graph.num_items + ends.items
        different, bodies = np.unique(codes, return_inverse=True)
        pairs, items = np.divmod(different, max(graph.num_items, 1))
        asked, slots = np.divmod(pairs, max(graph.num_slots, 1))
        confidence = (ends.support / (ends.cases + prior)).astype(np.float32)
        order = np.argsort(bodies, kind="stable")
        return cls(
            ends.offsets,
            bodies.astype(np.int32),
            confidence,
            offsets_of(np.bincount(asked, minlength=graph.num_slots)),
            slots.astype(np.int32),
            items.astype(np.int32),
            offsets_of(np.bincount(bodies, minlength=len(different))),
            heads[order].astype(np.int32),
            confidence[order],
        )


@njit(nogil=True, cache=True)
def lead_on(anchor, slot, links, leading, spoken, count):
    """All entities that some rule of the slot speaks for, by what is two steps from the anchor."""
    first, last = leading.slot_bodies[slot], leading.slot_bodies[slot + 1]
    if first == last:
        return count
    via = np.full(last - first, NOBODY, np.int32)  # by which Z each body holds
    met, held = np.empty(last - first, np.int64), 0
    low, high = first, first  # the bodies with the same first step as a link of the anchor
    step = -1
    for q in range(links.offsets[anchor], links.offsets[anchor + 1]):
        if links.slots[q] != step:
            step = links.slots[q]
            low = first_at_least(leading.slots, high, last, step)
            high = first_at_least(leading.slots, low, last, step + 1)
        z = links.ends[q]
        body, p, p_high = low, links.offsets[z], links.offsets[z + 1]
        while body < high and p < p_high:  # both ascend: each skips to what the other has next
            if leading.items[body] < links.items[p]:
                body = _skipped(leading.items, body, high, links.items[p])
            elif leading.items[body] > links.items[p]:
                p = _skipped(links.items, p, p_high, leading.items[body])
            else:
                if via[body - first] != NOBODY:
                    via[body - first] = SEVERAL
                elif links.item_entities[links.items[p]] != anchor:
                    via[body - first], met[held] = z, body
                    held += 1
                body += 1
                p += 1
    for body in met[:held]:
        for rule in range(leading.body_offsets[body], leading.body_offsets[body + 1]):
            entity = links.item_entities[leading.heads[rule]]
            if entity != anchor and via[body - first] != entity:
                confidence = leading.body_confidence[rule]
                count = speak(entity, ANCHOR_ENDS, confidence, spoken, count, True)
    return count


@njit(nogil=True, cache=True)
def _skipped(values, low, high, wanted):
    """`first_at_least`, in strides that grow: what is wanted is often near."""
    stride = 1
    while low + stride < high and values[low + stride] < wanted:
        low += stride
        stride *= 2
    return first_at_least(values, low + 1, min(low + stride, high), wanted)


@njit(nogil=True, cache=True)
def lead_back(anchor, head, links, leading, spoken, count):
    """All entities for which some body holds that speaks for having the anchor: the item `head`."""
    num_slots = len(links.slot_items) - 1
    said = np.full(len(spoken.rows), -1, np.int32)  # the last rule that spoke for each entity
    for rule in range(leading.offsets[head], leading.offsets[head + 1]):
        body, confidence = leading.bodies[rule], leading.confidence[rule]
        item = leading.items[body]
        back = inverse_of(leading.slots[body], num_slots)
        for m in range(links.member_offsets[item], links.member_offsets[item + 1]):
            z = links.members[m]
            if z == anchor:
                continue
            low, high = links_by(links.offsets, links.slots, z, back)
            for q in range(low, high):
                x = links.ends[q]
                if x != anchor and x != links.item_entities[item] and said[x] != rule:
                    said[x] = rule
                    count = speak(x, ENTITY_ENDS, confidence, spoken, count, True)
    return count


@njit(nogil=True, cache=True)
def nothing_passed(slot, leading):
    """Room to remember by which Z each body of the slot holds for one entity (body,)."""
    return np.full(leading.slot_bodies[slot + 1] - leading.slot_bodies[slot], UNKNOWN, np.int32)


@njit(nogil=True, cache=True)
def lead_to(anchor, slot, head, links, leading, passed, spoken):
    """The rules that speak for the anchor having one item; `passed` remembers what holds for it."""
    entity, first = links.item_entities[head], leading.slot_bodies[slot]
    for rule in range(leading.offsets[head], leading.offsets[head + 1]):
        body = leading.bodies[rule]
        if passed[body - first] == UNKNOWN:
            passed[body - first] = _past(anchor, body, links, leading)
        if passed[body - first] != NOBODY and passed[body - first] != entity:
            speak(entity, ANCHOR_ENDS, leading.confidence[rule], spoken, 0, False)


@njit(nogil=True, cache=True)
def lead_from(entity, anchor, back, links, leading, spoken):
    """The rules that speak for an entity having the anchor, by what is two steps from it."""
    for rule in range(leading.offsets[back], leading.offsets[back + 1]):
        z = _past(entity, leading.bodies[rule], links, leading)
        if z != NOBODY and z != anchor:
            speak(entity, ENTITY_ENDS, leading.confidence[rule], spoken, 0, False)


@njit(nogil=True, cache=True)
def _past(who, body, links, leading):
    """By which Z a body holds for an entity."""
    return reached(
        links.offsets, links.slots, links.ends, links.items, links.item_entities,
        links.member_offsets, links.members, who, leading.slots[body], leading.items[body],
    )  # fmt: skip
