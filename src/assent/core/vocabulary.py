"""The names of entities and relations; an id is a position.

A slot is a relation in one direction: slot r asks for the tail of relation r, and slot
r + num_relations for its head.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

from numpy.typing import NDArray

from assent.core.arrays import Ids, Integer
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

    def __post_init__(self) -> None:
        for names, labels, kind in (
            (self.entities, self.entity_labels, "entities"),
            (self.relations, self.relation_labels, "relations"),
        ):
            if len(set(names)) != len(names):
                raise DataError(f"{kind}: a name stands twice")
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

    def side(self, slot: int) -> str:
        """What a slot asks for: `tail` or `head`."""
        return SIDES[slot // self.num_relations]

    def entity(self, entity: int) -> str:
        """An entity as people read it."""
        return (self.entity_labels or self.entities)[entity]

    def relation(self, relation: int) -> str:
        """A relation as people read it; an inverse one says so."""
        name = (self.relation_labels or self.relations)[relation % self.num_relations]
        return name if relation < self.num_relations else f"inverse of {name}"

    def by_side(self, values: Sequence[Value]) -> dict[str, dict[str, Value]]:
        """A value for each relation and direction, by what is asked for, then by name."""
        count = self.num_relations
        return {
            side: dict(zip(self.relations, values[start : start + count], strict=True))
            for side, start in zip(SIDES, (0, count), strict=True)
        }

    def named(self, slots: Iterable[int]) -> dict[str, list[str]]:
        """These relations and directions, by what is asked for."""
        found: dict[str, list[str]] = {side: [] for side in SIDES}
        for slot in slots:
            side, relation = divmod(int(slot), self.num_relations)
            found[SIDES[side]].append(self.relations[relation])
        return found

    def with_entities(self, kept: Ids) -> Self:
        """The same relations over the kept entities only, in the given order."""
        return type(self)(
            tuple(self.entities[e] for e in kept),
            self.relations,
            tuple(self.entity_labels[e] for e in kept) if self.entity_labels else (),
            self.relation_labels,
        )
