"""Time zones: whose they are, and how far from UTC they stand in January and in July."""

from collections.abc import Mapping
from datetime import datetime

from world import sources
from world.graph import WorldGraph
from world.places import Countries

Timezones = Mapping[str, str]  # zone such as Europe/Zurich -> entity


def add_timezones(graph: WorldGraph, countries: Countries, *, year: int = 2026) -> Timezones:
    metazones = sources.metazones()
    timezones = {}
    for zone, code in sources.zone_countries().items():
        # Etc/GMT+5 and the like stand for offsets, not for places.
        if code not in countries or zone.startswith("Etc/"):
            continue
        timezone = graph.entity("timezone", zone, zone_label(zone))
        timezones[zone] = timezone
        graph.add(countries[code], "has_timezone", timezone)
        for relation, month in MONTHS.items():
            offset = offset_label(zone, datetime(year, month, 15))
            graph.add(timezone, relation, graph.entity("offset", offset, offset))
        if zone in metazones:
            label = metazones[zone].replace("_", " ")
            graph.add(timezone, "in_metazone", graph.entity("metazone", metazones[zone], label))
    return timezones


def zone_label(zone: str) -> str:
    place = zone.split("/")[-1].replace("_", " ")
    return f"{place} time zone"


def offset_label(zone: str, moment: datetime) -> str:
    offset = moment.replace(tzinfo=sources.zone_rules(zone)).utcoffset()
    assert offset is not None  # a moment with rules always has one
    minutes = round(offset.total_seconds() / 60)
    sign = "-" if minutes < 0 else "+"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{sign}{hours:02d}:{rest:02d}"


# One month of winter and one of summer, on either half of the globe.
MONTHS = {"january_offset": 1, "july_offset": 7}
