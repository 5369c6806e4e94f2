"""The names of entities and relations; an id is a position.

A slot is a relation in one direction: slot r asks for the tail of relation r, and slot
r + num_relations for its head.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Integer, Mask, frozen
from assent.errors import DataError

SIDES = ("tail", "head")  # what the first and the second slot of a relation ask for

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Names in the order of their ids, with readable labels where there are any."""

    entities: tuple[str, ...]
    relations: tuple[str, ...]
    entity_labels: tuple[str, ...] = ()  # as many as entities, or none
    relation_labels: tuple[str, ...] = ()  # as many as relations, or none

    def __repr__(self) -> str:
        return f"Vocabulary({self.num_entities:,} entities, {self.num_relations:,} relations)"

    def __post_init__(self) -> None:
        for names, labels, kind in (
            (self.entities, self.entity_labels, "entities"),
            (self.relations, self.relation_labels, "relations"),
        ):
            if len(set(names)) != len(names):
                raise DataError(f"{kind}: a name stands twice; expected each once")
            if labels and len(labels) != len(names):
                raise DataError(f"{kind}: {len(names)} names, but {len(labels)} labels")

    @property
    def num_entities(self) -> int:
        return len(self.entities)

    @property
    def num_relations(self) -> int:
        return len(self.relations)

    @property
    def num_slots(self) -> int:
        return 2 * len(self.relations)

    def inverse(self, slots: NDArray[Integer]) -> NDArray[Integer]:
        """The slots that ask for the other end of the same relations."""
        inverse: NDArray[Integer] = (slots + self.num_relations) % self.num_slots
        return inverse

    def slots_of(self, relation: int) -> tuple[int, int]:
        """The slot that asks for the tail of a relation, and the one that asks for its head."""
        return relation, relation + self.num_relations

    def slots_at(self, relations: Ids, sides: Ids) -> Ids:
        """The slot of each relation that asks for the end which `sides` names by place in SIDES."""
        return frozen(np.asarray(relations) + np.asarray(sides) * self.num_relations)

    def relations_of(self, slots: NDArray[Integer]) -> NDArray[Integer]:
        """The relation of each slot, whichever end it asks for."""
        relations: NDArray[Integer] = slots % self.num_relations
        return relations

    def asks_for_head(self, slots: NDArray[Integer]) -> Mask:
        """Whether each slot asks for the head of its relation, not for the tail."""
        heads: Mask = slots >= self.num_relations
        return heads

    def side(self, slot: int) -> str:
        """What a slot asks for: `tail` or `head`."""
        return SIDES[slot // self.num_relations]

    def entity(self, entity: int) -> str:
        """An entity as people read it."""
        return (self.entity_labels or self.entities)[entity]

    def relation_name(self, slot: int) -> str:
        """The name of the relation of a slot, as files have it, whichever end the slot asks for."""
        return self.relations[slot % self.num_relations]

    def relation(self, relation: int) -> str:
        """A slot as people read it: the name of its relation, or `inverse of` that name."""
        name = (self.relation_labels or self.relations)[relation % self.num_relations]
        return name if relation < self.num_relations else f"inverse of {name}"

    def entity_named(self, name: str, fits: Mask | None = None) -> int:
        """The id of the entity with this name, or this label, or this last part of its address.

        Where several have it, the only one of them that `fits` (entity,).
        """
        return _numbered(name, self.entities, self.entity_labels, "entity", fits)

    def entities_called(self, name: str) -> list[int]:
        """The ids of all entities of which `entity_named` may mean one by this name."""
        return _called(name, self.entities, self.entity_labels)

    def relation_named(self, name: str) -> int:
        """The id of the relation with this name, or this label, or this last part of its address.

        Only one may have it.
        """
        return _numbered(name, self.relations, self.relation_labels, "relation", None)

    def by_side(self, values: Sequence[Value]) -> dict[str, dict[str, Value]]:
        """A value for each slot, by what the slot asks for, then by the name of its relation."""
        count = self.num_relations
        return {
            side: dict(zip(self.relations, values[place * count :][:count], strict=True))
            for place, side in enumerate(SIDES)
        }

    def named(self, slots: Iterable[int]) -> dict[str, list[str]]:
        """The names of the relations of these slots, by what the slots ask for."""
        found: dict[str, list[str]] = {side: [] for side in SIDES}
        for slot in slots:
            found[self.side(int(slot))].append(self.relation_name(int(slot)))
        return found

    def with_entities(self, kept: Ids) -> Self:
        """The same relations over the kept entities only, in the given order."""
        return type(self)(
            tuple(self.entities[e] for e in kept),
            self.relations,
            tuple(self.entity_labels[e] for e in kept) if self.entity_labels else (),
            self.relation_labels,
        )


def last_part(name: str) -> str:
    """What comes last in an address or a path; other names as they are."""
    if "://" not in name and not name.startswith(("/", "urn:")):
        return name
    return re.split(r"[/#:]", name.rstrip("/#:"))[-1] or name


def _called(name: str, names: tuple[str, ...], labels: tuple[str, ...]) -> list[int]:
    """The one with this name; else those with this label; else those with this last part."""
    if name in names:
        return [names.index(name)]
    return [number for number, label in enumerate(labels) if label == name] or [
        number for number, other in enumerate(names) if last_part(other) == name
    ]


def _numbered(
    name: str, names: tuple[str, ...], labels: tuple[str, ...], what: str, fits: Mask | None
) -> int:
    found = _called(name, names, labels)
    fitting = found if len(found) == 1 or fits is None else [one for one in found if fits[one]]
    if len(fitting) == 1:
        return fitting[0]
    if found:
        those = ", ".join(names[number] for number in found[:5])
        raise DataError(f"{name!r}: several have this label ({those}); give the name")
    close = get_close_matches(name, [*names, *dict.fromkeys(labels)], n=3, cutoff=0.7)
    hint = f"; close to it: {', '.join(close)}" if close else ""
    raise DataError(f"{name!r}: no {what} of the benchmark has this name or label{hint}")
