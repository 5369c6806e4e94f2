"""The known facts as rules walk them: links of each entity, and who has which property.

Every fact between two different entities is seen from both ends, as links (start, slot, end). A
fact of an entity with itself is left out: it would be evidence for itself.

A property is what a rule can ask of one entity: "has slot s with c" (an item), or "has slot s with
anyone". Items are numbered by slot, then by entity; properties are all items, then all slots.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from assent.core.arrays import Ids, Keys, distinct, frozen, offsets_of, pair_keys
from assent.core.queries import both_ways


class Links(NamedTuple):
    """The graph as compiled loops take it: what `Graph` has by these names."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Links by entity, and the members of each property."""

    num_entities: int
    num_slots: int
    offsets: Keys  # (entity + 1,)     links of an entity, ascending by slot, then end
    slots: Ids  # (link,)
    ends: Ids  # (link,)
    items: Ids  # (link,)              the item that the link gives its start: (slot, end)
    near_ends: Ids  # (link,)          the links of an entity again, ascending by end, then slot
    near_slots: Ids  # (link,)
    slot_offsets: Keys  # (entity + 1,)  slots of an entity, ascending, each once
    entity_slots: Ids  # (entity's slot,)
    item_slots: Ids  # (item,)
    item_entities: Ids  # (item,)
    slot_items: Keys  # (slot + 1,)    the items of a slot stand together
    member_offsets: Keys  # (property + 1,)
    members: Ids  # (member,)          entities, ascending within a property

    def answers(self, anchor: int, slot: int) -> list[int]:
        """Where the links of an entity by one slot lead, ascending."""
        low, high = self.offsets[anchor], self.offsets[anchor + 1]
        first, last = np.searchsorted(self.slots[low:high], [slot, slot + 1])
        return self.ends[low + first : low + last].tolist()

    @property
    def links(self) -> Links:
        return Links(*(getattr(self, name) for name in Links._fields))

    @property
    def num_items(self) -> int:
        return len(self.item_slots)

    @property
    def num_properties(self) -> int:
        return self.num_items + self.num_slots

    @classmethod
    def of(cls, facts: Ids, num_entities: int, num_relations: int) -> "Graph":
        """Of facts (fact, 3), each of them once."""
        num_slots = 2 * num_relations
        apart = facts[facts[:, 0] != facts[:, 2]]
        starts, slots, ends = both_ways(apart, num_relations)
        order = np.lexsort((ends, slots, starts))
        starts, slots, ends = starts[order], slots[order], ends[order]
        near = np.lexsort((slots, ends, starts))
        keys = pair_keys(slots, ends, num_entities)
        item_keys = distinct(keys)
        items = np.searchsorted(item_keys, keys)
        by_item = np.argsort(items, kind="stable")  # starts ascend already
        standing = distinct(pair_keys(starts, slots, num_slots))
        entities, entity_slots = np.divmod(standing, num_slots)
        by_slot = np.argsort(entity_slots, kind="stable")
        sizes = np.concatenate(
            [
                np.bincount(items, minlength=len(item_keys)),
                np.bincount(entity_slots, minlength=num_slots),
            ]
        )
        return cls(
            num_entities,
            num_slots,
            frozen(offsets_of(np.bincount(starts, minlength=num_entities)), np.int64),
            frozen(slots),
            frozen(ends),
            frozen(items),
            frozen(ends[near]),
            frozen(slots[near]),
            frozen(offsets_of(np.bincount(entities, minlength=num_entities)), np.int64),
            frozen(entity_slots),
            frozen(item_keys // num_entities),
            frozen(item_keys % num_entities),
            frozen(np.searchsorted(item_keys, np.arange(num_slots + 1) * num_entities), np.int64),
            frozen(offsets_of(sizes), np.int64),
            frozen(np.concatenate([starts[by_item], entities[by_slot]])),
        )

    @property
    def sizes(self) -> Keys:  # (property,)
        """How many entities have each property."""
        return np.diff(self.member_offsets)

    def item(self, slots: Ids, entities: Ids) -> Ids:
        """The number of each item (slot, entity); -1 where nobody has it."""
        mine = pair_keys(self.item_slots, self.item_entities, self.num_entities)
        keys = pair_keys(slots, entities, self.num_entities)
        places = np.searchsorted(mine, keys)
        inside = np.minimum(places, max(len(mine) - 1, 0))
        there = mine[inside] == keys if len(mine) else np.zeros(len(keys), bool)
        return np.where(there, places, -1).astype(np.int32)


@njit(nogil=True, cache=True)
def first_at_least(values, low, high, wanted):
    """The first place in `values[low:high]`, ascending, whose value is not below `wanted`."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True, cache=True)
def links_by(offsets, slots, entity, slot):
    """Where the links of an entity by one slot begin and end."""
    low = first_at_least(slots, offsets[entity], offsets[entity + 1], slot)
    high = first_at_least(slots, low, offsets[entity + 1], slot + 1)
    return low, high


@njit(nogil=True, cache=True)
def linked(offsets, slots, ends, start, slot, end):
    """Whether a fact leads from `start` by `slot` to `end`."""
    low, high = links_by(offsets, slots, start, slot)
    place = first_at_least(ends, low, high, end)
    return place < high and ends[place] == end


@njit(nogil=True, cache=True)
def inverse_of(slot, num_slots):
    """The slot of the same relation in the other direction."""
    return (slot + num_slots // 2) % num_slots
