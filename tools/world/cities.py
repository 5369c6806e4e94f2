"""Large cities and capitals: where they lie, and which lie near each other."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from world import sources
from world.graph import WorldGraph
from world.names import plain
from world.places import Countries
from world.sources import City
from world.timezones import Timezones


def add_cities(
    graph: WorldGraph,
    countries: Countries,
    timezones: Timezones,
    *,
    smallest: int,
    near_km: float,
) -> None:
    """Cities of `smallest` people or more, and all capitals whatever their size."""
    capital_names = {code: country.capital for code, country in sources.countries().items()}
    capitals = find_capitals(sources.cities(), capital_names)
    large = [city for city in sources.cities() if city.population >= smallest]
    cities = list(dict.fromkeys([*large, *capitals.values()]))
    entities = {city: graph.entity("city", city.key, city.name) for city in cities}

    aliases = sources.zone_aliases()
    for city, entity in entities.items():
        graph.add(entity, "city_in_country", countries[city.country])
        zone = aliases.get(city.timezone, city.timezone)
        graph.add(entity, "city_in_timezone", timezones[zone])
    for code, city in capitals.items():
        graph.add(countries[code], "capital", entities[city])
    for code, city in find_largest(cities).items():
        graph.add(countries[code], "largest_city", entities[city])
    for one, other in near_pairs(cities, near_km):
        graph.add(entities[one], "near_city", entities[other])
        graph.add(entities[other], "near_city", entities[one])


def find_capitals(cities: Iterable[City], capital_names: Mapping[str, str]) -> dict[str, City]:
    """Country code -> its capital. The city's own name counts before its other names, then the
    larger city; countries whose capital is too small to be listed have none."""
    capitals: dict[str, City] = {}
    ranks: dict[str, tuple[bool, int]] = {}
    wanted = {code: plain(name) for code, name in capital_names.items() if name}
    for city in cities:
        name = wanted.get(city.country)
        if name is None or not _is_called(city, name):
            continue
        rank = (plain(city.name) == name, city.population)
        if city.country not in ranks or rank > ranks[city.country]:
            capitals[city.country], ranks[city.country] = city, rank
    return capitals


def find_largest(cities: Iterable[City]) -> dict[str, City]:
    """Country code -> the largest of these cities, the first of them where equal."""
    largest: dict[str, City] = {}
    for city in cities:
        rival = largest.get(city.country)
        if rival is None or city.population > rival.population:
            largest[city.country] = city
    return largest


def near_pairs(cities: Sequence[City], near_km: float) -> Iterator[tuple[City, City]]:
    """Each pair of cities at most `near_km` apart, once."""
    from_south = sorted(cities, key=lambda city: city.latitude)
    for position, one in enumerate(from_south):
        for other in from_south[position + 1 :]:
            # Going north, all further cities are too far as well.
            if other.latitude - one.latitude > near_km / SHORTEST_DEGREE_KM:
                break
            if distance_km(one, other) <= near_km:
                yield one, other


def distance_km(one: City, other: City) -> float:
    """Along the great circle (haversine formula)."""
    south, north = math.radians(one.latitude), math.radians(other.latitude)
    turn = math.radians(other.longitude - one.longitude)
    across = math.sin((north - south) / 2) ** 2
    along = math.cos(south) * math.cos(north) * math.sin(turn / 2) ** 2
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(across + along))


def _is_called(city: City, name: str) -> bool:
    return plain(city.name) == name or any(plain(other) == name for other in city.other_names)


EARTH_RADIUS_KM = 6371.0
SHORTEST_DEGREE_KM = 111.0  # of latitude; a little less than the true 111.19, to be safe
