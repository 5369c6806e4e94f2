"""Public holidays that several countries share under one name."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from world import sources
from world.graph import WorldGraph
from world.names import slug
from world.places import Countries


def add_holidays(
    graph: WorldGraph,
    countries: Countries,
    *,
    years: Sequence[int] = (2024, 2025),
    at_least: int = 3,
) -> None:
    """A name that fewer than `at_least` countries use would be a dead end, and is left out."""
    observers = {
        name: codes
        for name, codes in _observers(countries, years).items()
        if len(codes) >= at_least
    }
    labels = choose_labels(observers)
    for name, codes in observers.items():
        holiday = graph.entity("holiday", slug(name), labels[slug(name)])
        for code in codes:
            graph.add(countries[code], "observes_holiday", holiday)


def clean_name(name: str) -> str:
    """The holiday's own name; empty for days off that only stand in for another day."""
    name = REMARK.sub("", name).strip()
    return "" if name.startswith(STAND_INS) else name


def choose_labels(observers: Mapping[str, set[str]]) -> dict[str, str]:
    """Slug -> the spelling that most countries use, the first by alphabet where equal."""
    labels: dict[str, str] = {}
    for name in sorted(observers, key=lambda name: (-len(observers[name]), name)):
        labels.setdefault(slug(name), name)
    return labels


def _observers(countries: Countries, years: Sequence[int]) -> dict[str, set[str]]:
    """Holiday name -> codes of the countries that observe it."""
    observers: defaultdict[str, set[str]] = defaultdict(set)
    for code in sources.holiday_countries():
        if code not in countries:
            continue
        for raw_name in sources.holiday_names(code, years):
            name = clean_name(raw_name)
            if name:
                observers[name].add(code)
    return dict(observers)


REMARK = re.compile(
    r"\s*\((observed|estimated|observed, estimated|in lieu|substituted from[^)]*|day off[^)]*)\)"
)
STAND_INS = ("Day off", "Bridge")
