"""The whole world graph, theme by theme."""

from assent.datasets.worldmaking.cities import add_cities
from assent.datasets.worldmaking.graph import WorldGraph
from assent.datasets.worldmaking.habits import add_habits
from assent.datasets.worldmaking.languages import add_languages
from assent.datasets.worldmaking.money import add_money
from assent.datasets.worldmaking.organisations import add_organisations
from assent.datasets.worldmaking.places import add_borders, add_countries, add_regions
from assent.datasets.worldmaking.public_holidays import add_holidays
from assent.datasets.worldmaking.timezones import add_timezones


def build_world(*, smallest_city: int = 750_000, near_km: float = 100.0) -> WorldGraph:
    graph = WorldGraph()
    countries = add_countries(graph)
    add_regions(graph, countries)
    add_borders(graph, countries)
    add_money(graph, countries)
    add_languages(graph, countries)
    add_habits(graph, countries)
    add_organisations(graph, countries)
    add_holidays(graph, countries)
    timezones = add_timezones(graph, countries)
    add_cities(graph, countries, timezones, smallest=smallest_city, near_km=near_km)
    return graph
