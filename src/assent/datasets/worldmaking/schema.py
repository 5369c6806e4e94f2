"""The relations of the world graph: what each connects, and how it is called in a sentence."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Relation:
    domain: str  # type of every head
    range: str  # type of every tail
    label: str


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
