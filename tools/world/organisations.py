"""Organisations and groups of countries, and their members."""

from world import sources
from world.graph import WorldGraph
from world.places import Countries


def add_organisations(graph: WorldGraph, countries: Countries) -> None:
    by_long_code = {
        country.long_code: countries[code] for code, country in sources.countries().items()
    }
    for key, (path, label) in GROUPS.items():
        organisation = graph.entity("organisation", key, label)
        for member in sources.group_members(*path):
            # The European Union sits in some groups beside its members; it is no country.
            if member in by_long_code:
                graph.add(by_long_code[member], "member_of", organisation)
    _add_eurozone(graph, countries)


def _add_eurozone(graph: WorldGraph, countries: Countries) -> None:
    """From CLDR, as countrygroups has none."""
    eurozone = graph.entity("organisation", "EZ", "Eurozone")
    for group in sources.cldr_section("territoryContainment"):
        if group.get("type") == "EZ":
            for code in group.attrib["contains"].split():
                graph.add(countries[code], "member_of", eurozone)


# key -> where countrygroups keeps the members, and the label
GROUPS = {
    "EU": (("EUROPEAN_UNION",), "European Union"),
    "OECD": (("OECD",), "OECD"),
    "OPEC": (("OPEC",), "OPEC"),
    "G7": (("G7",), "G7"),
    "G20": (("G20",), "G20"),
    "G77": (("G77",), "Group of 77"),
    "BRICS": (("BRICS",), "BRICS"),
    "AOSIS": (("AOSIS",), "Alliance of Small Island States"),
    "ARAB": (("ARAB_GROUP",), "Arab Group"),
    "LDC": (("LDC",), "Least developed countries"),
    "LLDC": (("LLDC",), "Landlocked developing countries"),
    "SIDS": (("SIDS",), "Small island developing states"),
    "ANNEX1": (("ANNEX_ONE",), "UNFCCC Annex I"),
    "UMBRELLA": (("UMBRELLA",), "Umbrella Group"),
    "EIG": (("EIG",), "Environmental Integrity Group"),
    "UN-AFRICAN_GROUP": (("UN_REGIONAL_GROUPS", "AFRICAN_GROUP"), "UN African Group"),
    "UN-ASIA_PACIFIC_GROUP": (
        ("UN_REGIONAL_GROUPS", "ASIA_PACIFIC_GROUP"),
        "UN Asia-Pacific Group",
    ),
    "UN-EASTERN_EUROPEAN_GROUP": (
        ("UN_REGIONAL_GROUPS", "EASTERN_EUROPEAN_GROUP"),
        "UN Eastern European Group",
    ),
    "UN-GRULAC": (("UN_REGIONAL_GROUPS", "GRULAC"), "UN Latin American and Caribbean Group"),
    "UN-WEOG": (("UN_REGIONAL_GROUPS", "WEOG"), "UN Western European and Others Group"),
}
