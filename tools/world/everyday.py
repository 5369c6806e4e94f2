"""Everyday life: money, first day of the week and weekend, clock, calendars."""

from collections.abc import Mapping
from dataclasses import dataclass

from world import sources
from world.graph import WorldGraph
from world.places import Countries


@dataclass(frozen=True, slots=True)
class Habit:
    """Where CLDR keeps a habit: `<element where="CH DE" what="mon"/>` within a section."""

    section: str
    element: str
    where: str
    what: str
    kind: str  # type of the entities


def add_money(graph: WorldGraph, countries: Countries, *, since: int = 1960) -> None:
    """Currencies that ended before the year `since` are left out."""
    names = sources.english_names("currencies")
    for code, country in countries.items():
        for use in sources.currency_uses(code):
            if use.currency not in names:
                continue
            currency = graph.entity("currency", use.currency, names[use.currency])
            if use.ended is None:
                graph.add(country, "currency", currency)
            elif use.ended >= since:
                graph.add(country, "former_currency", currency)


def add_habits(graph: WorldGraph, countries: Countries) -> None:
    for relation, habit in HABITS.items():
        values = _values(habit)
        for code, country in countries.items():
            # The world's own value stands for all that are not named.
            for value in values.get(code, values[WORLD]).split():
                entity = graph.entity(habit.kind, value, _label(habit.kind, value))
                graph.add(country, relation, entity)


def _values(habit: Habit) -> Mapping[str, str]:
    """Territory -> value."""
    values = {}
    for row in sources.cldr_section(habit.section):
        # An "alt" row is a second opinion on a country that has a first one.
        if row.tag == habit.element and not row.get("alt"):
            for territory in row.attrib[habit.where].split():
                values[territory] = row.attrib[habit.what]
    return values


def _label(kind: str, value: str) -> str:
    return f"{value} calendar" if kind == "calendar" else LABELS[value]


WORLD = "001"

LABELS = {
    "mon": "Monday",
    "thu": "Thursday",
    "fri": "Friday",
    "sat": "Saturday",
    "sun": "Sunday",
    "H": "24-hour clock",
    "h": "12-hour clock",
}

HABITS = {
    "week_starts_on": Habit("weekData", "firstDay", "territories", "day", "weekday"),
    "weekend_starts_on": Habit("weekData", "weekendStart", "territories", "day", "weekday"),
    "preferred_clock": Habit("timeData", "hours", "regions", "preferred", "clock"),
    "uses_calendar": Habit(
        "calendarPreferenceData", "calendarPreference", "territories", "ordering", "calendar"
    ),
}
