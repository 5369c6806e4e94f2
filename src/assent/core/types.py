"""Types of entities, and the types that a relation's two ends take."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import (
    Ids,
    Keys,
    Mask,
    distinct,
    found_in,
    frozen,
    offsets_of,
    pair_keys,
    places_in,
    rows_of,
)
from assent.core.showing import brief
from assent.errors import DataError

Pairs = NDArray[np.integer]  # (pair, 2)


@dataclass(frozen=True, slots=True, eq=False)
class Types:
    """The types of each entity, and the types that the anchor of each slot may have.

    The anchor of a query for the tail has a type of the relation's domain, the anchor of a query
    for the head one of its range. So domains and ranges are one table by slot.
    """

    names: tuple[str, ...]
    entity_offsets: Keys  # (entity + 1,)
    entity_types: Ids  # (entity's type,)    types of entity e, ascending
    slot_offsets: Keys  # (slot + 1,)
    slot_types: Ids  # (slot's type,)        types for anchors of slot s, ascending; none: unknown

    __repr__ = brief

    def __post_init__(self) -> None:
        for offsets, types in (
            (self.entity_offsets, self.entity_types),
            (self.slot_offsets, self.slot_types),
        ):
            if offsets[-1] != len(types):
                raise DataError("types: offsets do not match the values")
            if len(types) and (types.min() < 0 or types.max() >= len(self.names)):
                raise DataError("types: an id that has no name")

    @classmethod
    def of_pairs(
        cls, names: Sequence[str], entities: Pairs, slots: Pairs, num_entities: int, num_slots: int
    ) -> Self:
        """From (entity, type) and (slot, type) pairs in any order, some of them perhaps twice."""
        entity_offsets, entity_types = _ragged(entities, num_entities, len(names))
        slot_offsets, slot_types = _ragged(slots, num_slots, len(names))
        return cls(tuple(names), entity_offsets, entity_types, slot_offsets, slot_types)

    def fit(self, anchors: Ids | Keys, slots: Ids | Keys) -> Mask:
        """Whether each anchor has at least one of the types of its slot."""
        lengths = np.diff(self.entity_offsets)[anchors]
        types = self.entity_types[places_in(self.entity_offsets, anchors)]
        asked = pair_keys(np.repeat(slots, lengths), types, len(self.names))
        hits = found_in(self._slot_keys(), asked)
        return (
            np.bincount(np.repeat(np.arange(len(anchors)), lengths)[hits], minlength=len(anchors))
            > 0
        )

    def violate(self, anchors: Ids | Keys, slots: Ids | Keys) -> Mask:
        """Whether each anchor has types, its slot has types, and they share none."""
        typed = np.diff(self.entity_offsets)[anchors] > 0
        known = np.diff(self.slot_offsets)[slots] > 0
        return typed & known & ~self.fit(anchors, slots)

    def with_entities(self, kept: Ids) -> Self:
        """The same types over the kept entities only, in the given order."""
        lengths = np.diff(self.entity_offsets)[kept]
        types = self.entity_types[places_in(self.entity_offsets, kept)]
        return type(self)(
            self.names, offsets_of(lengths), frozen(types), self.slot_offsets, self.slot_types
        )

    def _slot_keys(self) -> Keys:
        return pair_keys(rows_of(self.slot_offsets), self.slot_types, len(self.names))


def _ragged(pairs: Pairs, num_rows: int, num_types: int) -> tuple[Keys, Ids]:
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    if len(pairs) and (pairs.min() < 0 or (pairs.max(axis=0) >= (num_rows, num_types)).any()):
        raise DataError("types: a pair with an id out of range")
    keys = distinct(pair_keys(pairs[:, 0], pairs[:, 1], max(num_types, 1)))
    rows, types = np.divmod(keys, max(num_types, 1))
    return offsets_of(np.bincount(rows, minlength=num_rows)), frozen(types)
