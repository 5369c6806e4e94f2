"""A collector of facts about typed and labelled entities."""

from assent.datasets.worldmaking.schema import RELATIONS
from assent.errors import DataError

Fact = tuple[str, str, str]  # head, relation, tail


class WorldGraph:
    """Facts, each held once, whose ends have the types that their relation asks for."""

    def __init__(self) -> None:
        self._facts: set[Fact] = set()
        self._labels: dict[str, str] = {}
        self._types: dict[str, str] = {}

    def entity(self, kind: str, key: str, label: str) -> str:
        """The id of an entity. Keys carry their type, as labels repeat: Georgian is a language
        and a script."""
        entity = f"{kind}:{key}"
        known = self._labels.setdefault(entity, label)
        if known != label:
            raise DataError(f"{entity} has two labels, {known!r} and {label!r}; expected one")
        for text in (entity, label):
            if not text.strip() or any(mark in text for mark in "\t\n\r"):
                raise DataError(f"{entity!r} ({label!r}): expected one line of text without tabs")
        self._types[entity] = kind
        return entity

    def add(self, head: str, relation: str, tail: str) -> None:
        expected = RELATIONS[relation]
        self._check(head, expected.domain, relation)
        self._check(tail, expected.range, relation)
        self._facts.add((head, relation, tail))

    def facts(self) -> list[Fact]:
        return sorted(self._facts)

    def labels(self) -> list[tuple[str, str]]:
        """(entity, label) of every entity that some fact names."""
        return [(entity, self._labels[entity]) for entity in self._entities()]

    def types(self) -> list[tuple[str, str]]:
        """(entity, type) of every entity that some fact names."""
        return [(entity, self._types[entity]) for entity in self._entities()]

    def _entities(self) -> list[str]:
        return sorted({entity for head, _, tail in self._facts for entity in (head, tail)})

    def _check(self, entity: str, expected: str, relation: str) -> None:
        found = self._types.get(entity, "unknown entity")
        if found != expected:
            raise DataError(f"{relation}: expected a {expected}, found {entity!r} ({found})")
