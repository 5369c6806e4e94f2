"""The world graph: its relations, and a collector of facts about typed and labelled entities."""

from dataclasses import dataclass

from assent.errors import DataError

Fact = tuple[str, str, str]  # head, relation, tail


@dataclass(frozen=True, slots=True)
class Relation:
    domain: str  # type of every head
    range: str  # type of every tail
    label: str


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


# What each relation connects, and how it is called in a sentence.
RELATIONS = {
    "borders": Relation("country", "country", "borders"),
    "capital": Relation("country", "city", "has capital"),
    "city_in_country": Relation("city", "country", "is a city in"),
    "city_in_timezone": Relation("city", "timezone", "is a city in time zone"),
    "country_in_continent": Relation("country", "continent", "is on continent"),
    "country_in_region": Relation("country", "region", "is in region"),
    "currency": Relation("country", "currency", "pays in"),
    "former_currency": Relation("country", "currency", "formerly paid in"),
    "has_locale_for": Relation("language", "country", "has a locale for"),
    "has_timezone": Relation("country", "timezone", "has time zone"),
    "in_metazone": Relation("timezone", "metazone", "belongs to metazone"),
    "january_offset": Relation("timezone", "offset", "has January offset"),
    "july_offset": Relation("timezone", "offset", "has July offset"),
    # Among the cities of the graph: a country without a large one has only its capital here.
    "largest_city": Relation("country", "city", "has largest listed city"),
    "macrolanguage": Relation("language", "language", "belongs to macrolanguage"),
    "main_country": Relation("language", "country", "is mainly spoken in"),
    "member_of": Relation("country", "organisation", "is a member of"),
    "minority_language": Relation("country", "language", "has minority language"),
    "near_city": Relation("city", "city", "is near"),
    "observes_holiday": Relation("country", "holiday", "observes holiday"),
    "official_language": Relation("country", "language", "has official language"),
    "plural_category": Relation("language", "plural", "distinguishes plural category"),
    "preferred_clock": Relation("country", "clock", "prefers clock"),
    "region_in_continent": Relation("region", "continent", "is a region of"),
    "regional_language": Relation("country", "language", "has regional language"),
    "uses_calendar": Relation("country", "calendar", "uses calendar"),
    "week_starts_on": Relation("country", "weekday", "starts the week on"),
    "weekend_starts_on": Relation("country", "weekday", "starts the weekend on"),
    "widely_spoken_language": Relation("country", "language", "widely speaks"),
    "written_in_script": Relation("language", "script", "is written in script"),
}
