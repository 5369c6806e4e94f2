"""What a graph states about its relations and types. New facts must not contradict it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

from assent.core.checking import refuse_unknown
from assent.core.showing import brief
from assent.errors import DataError

# What a statement may say of its subject -> what the subject and the object are.
PROPERTIES: dict[str, tuple[str, str | None]] = {
    "domain": ("relation", "type"),  # a head has one of the domain types of its relation
    "range": ("relation", "type"),  # a tail has one of the range types of its relation
    "functional": ("relation", None),  # a head has one tail at most
    "inverseFunctional": ("relation", None),  # a tail has one head at most
    "symmetric": ("relation", None),  # where a fact holds, so does its reverse
    "transitive": ("relation", None),  # where a r b and b r c hold, so does a r c
    "inverseOf": ("relation", "relation"),  # where a r b holds, b s a does, and vice versa
    "subPropertyOf": ("relation", "relation"),  # where a r b holds, so does a s b
    "typeRelation": ("relation", None),  # the tails are types of the heads
    "subClassOf": ("type", "type"),  # what has the first type has the second
    "disjointWith": ("type", "type"),  # nothing has both types
}
ENDS = ("domain", "range")


class Statement(NamedTuple):
    """`capital range city`, `capital functional`: names of relations and types, as in the graph."""

    subject: str
    property: str  # one of PROPERTIES
    object: str = ""  # empty where the property takes none


@dataclass(frozen=True, slots=True)
class Schema:
    """Statements about relations and types, by name; the graph may lack facts about some."""

    statements: frozenset[Statement] = frozenset()

    __repr__ = brief

    def __post_init__(self) -> None:
        for subject, named, other in self.statements:
            refuse_unknown(named, PROPERTIES, "property of a schema")
            if not subject or bool(other) != (PROPERTIES[named][1] is not None):
                raise DataError(f"schema: {(subject, named, other)} is no statement about {named}")

    @classmethod
    def of(cls, statements: Iterable[tuple[str, ...]]) -> Self:
        """From rows of two or three names."""
        return cls(frozenset(Statement(*row) for row in statements))

    def __bool__(self) -> bool:
        return bool(self.statements)

    def __or__(self, other: Self) -> Self:
        """What either of them states."""
        return type(self)(self.statements | other.statements)

    def about(self, *properties: str) -> Iterator[tuple[str, str]]:
        """Subject and object of the statements with these properties, in order."""
        chosen = (row for row in self.statements if row.property in properties)
        return ((row.subject, row.object) for row in sorted(chosen))

    def subjects(self, named: str) -> list[str]:
        """What has this property, in order."""
        return list(dict.fromkeys(subject for subject, _ in self.about(named)))

    def relations(self) -> list[str]:
        """All relations that the statements speak of, in order."""
        return sorted(
            {
                name
                for subject, named, other in self.statements
                for name, kind in zip((subject, other), PROPERTIES[named], strict=True)
                if kind == "relation"
            }
        )

    def supertypes(self) -> Mapping[str, frozenset[str]]:
        """For each type that has some, all types above it: those of its supertypes included."""
        return upwards(self.about("subClassOf"))


NOTHING_STATED = Schema()


def upwards(steps: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """For each name that a step leads from, all names that one or more steps lead to.

    A name is among its own only by way of itself: names in a circle are left out of their own set.
    """
    above: dict[str, set[str]] = {}
    for low, high in steps:
        above.setdefault(low, set()).add(high)
    closed: dict[str, frozenset[str]] = {}
    for start in above:
        reached: set[str] = set()
        waiting = list(above[start])
        while waiting:
            name = waiting.pop()
            if name in reached:
                continue
            reached.add(name)
            if name in closed:
                reached |= closed[name]
            else:
                waiting.extend(above.get(name, ()))
        closed[start] = frozenset(reached - {start})
    return closed
