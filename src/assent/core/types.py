"""Types of entities, and the types that a relation's two ends take."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, Mask, distinct, found_in, frozen, offsets_of, places_in
from assent.errors import DataError

Pairs = NDArray[np.integer]  # (pair, 2)


@dataclass(frozen=True, slots=True, eq=False)
class Types:
    """Who is what, and what a question may be asked about.

    The anchor of a tail query stands in the relation's domain, the anchor of a head query in its
    range. As a head query is a tail query about the inverse relation, both are one table: what
    types the anchor of each of the 2 x relations may have.
    """

    names: tuple[str, ...]
    entity_offsets: Keys  # (entity + 1,)
    entity_types: Ids  # (entity's type,)    types of entity e, ascending
    slot_offsets: Keys  # (2 x relation + 1,)
    slot_types: Ids  # (slot's type,)        types that fit slot s, ascending; none = not known

    def __post_init__(self) -> None:
        for offsets, types in (
            (self.entity_offsets, self.entity_types),
            (self.slot_offsets, self.slot_types),
        ):
            if offsets[-1] != len(types):
                raise DataError("types: offsets do not match the values")
            if len(types) and (types.min() < 0 or types.max() >= len(self.names)):
                raise DataError("types: an id without a name")

    @classmethod
    def of_pairs(
        cls, names: Sequence[str], entities: Pairs, slots: Pairs, num_entities: int, num_slots: int
    ) -> Self:
        """From (entity, type) and (slot, type) pairs in any order, each as often as you like."""
        entity_offsets, entity_types = _ragged(entities, num_entities, len(names))
        slot_offsets, slot_types = _ragged(slots, num_slots, len(names))
        return cls(tuple(names), entity_offsets, entity_types, slot_offsets, slot_types)

    def fit(self, anchors: Ids, slots: Ids) -> Mask:
        """Whether some type of the anchor is one that the slot is known to take."""
        lengths = np.diff(self.entity_offsets)[anchors]
        types = self.entity_types[places_in(self.entity_offsets, anchors)].astype(np.int64)
        asked = np.repeat(slots.astype(np.int64), lengths) * len(self.names) + types
        hits = found_in(self._slot_keys(), asked)
        return (
            np.bincount(np.repeat(np.arange(len(anchors)), lengths)[hits], minlength=len(anchors))
            > 0
        )

    def violate(self, anchors: Ids, slots: Ids) -> Mask:
        """Whether all types of the anchor are wrong for the slot.

        Nothing is said against an entity without types or a slot that nothing is known of.
        """
        typed = np.diff(self.entity_offsets)[anchors] > 0
        known = np.diff(self.slot_offsets)[slots] > 0
        return typed & known & ~self.fit(anchors, slots)

    def with_entities(self, kept: Ids) -> Self:
        """The same types for the kept entities only, in the given order."""
        lengths = np.diff(self.entity_offsets)[kept]
        types = self.entity_types[places_in(self.entity_offsets, kept)]
        return type(self)(
            self.names, offsets_of(lengths), frozen(types), self.slot_offsets, self.slot_types
        )

    def _slot_keys(self) -> Keys:
        slots = np.repeat(np.arange(len(self.slot_offsets) - 1), np.diff(self.slot_offsets))
        return slots * len(self.names) + self.slot_types


def _ragged(pairs: Pairs, num_rows: int, num_types: int) -> tuple[Keys, Ids]:
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    if len(pairs) and (pairs.min() < 0 or (pairs.max(axis=0) >= (num_rows, num_types)).any()):
        raise DataError("types: a pair with an id that is not there")
    keys = distinct(pairs[:, 0] * max(num_types, 1) + pairs[:, 1])
    rows, types = np.divmod(keys, max(num_types, 1))
    return offsets_of(np.bincount(rows, minlength=num_rows)), frozen(types)
