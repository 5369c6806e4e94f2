"""Countries, the regions and continents they lie in, and their borders."""

from collections.abc import Mapping

from world import sources
from world.graph import WorldGraph

Countries = Mapping[str, str]  # two-letter code -> entity


def add_countries(graph: WorldGraph) -> Countries:
    names = sources.english_names("territories")
    return {
        code: graph.entity("country", code, names.get(code, country.name))
        for code, country in sources.countries().items()
    }


def add_regions(graph: WorldGraph, countries: Countries) -> None:
    names = sources.english_names("territories")
    parts = _containment()
    for continent_code, continent_name in CONTINENTS.items():
        continent = graph.entity("continent", continent_code, continent_name)
        for region_code in parts[continent_code]:
            region = graph.entity("region", region_code, names[region_code])
            graph.add(region, "region_in_continent", continent)
            for code in parts[region_code]:
                # Some islands have a code in CLDR but are no country in GeoNames.
                if code in countries:
                    graph.add(countries[code], "country_in_region", region)
                    graph.add(countries[code], "country_in_continent", continent)


def add_borders(graph: WorldGraph, countries: Countries) -> None:
    for code, country in sources.countries().items():
        for neighbour in country.neighbours:
            if neighbour in countries:
                graph.add(countries[code], "borders", countries[neighbour])


def _containment() -> dict[str, list[str]]:
    """Area -> its parts. Groups with a status or grouping are dissolved, or cut across the
    five continents."""
    return {
        group.attrib["type"]: group.attrib["contains"].split()
        for group in sources.cldr_section("territoryContainment")
        if not group.get("status") and not group.get("grouping")
    }


CONTINENTS = {
    "002": "Africa",
    "009": "Oceania",
    "019": "Americas",
    "142": "Asia",
    "150": "Europe",
}
