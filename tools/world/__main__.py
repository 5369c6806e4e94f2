"""Rebuild the world graph: `make world`, or `python -m world --out FOLDER` in `tools/`."""

import argparse
import hashlib
import sys
from pathlib import Path

from assent.datasets import CATALOGUE
from assent.errors import AssentError
from world.cities import add_cities
from world.everyday import add_habits, add_money
from world.graph import WorldGraph
from world.languages import add_languages
from world.organisations import add_organisations
from world.places import add_borders, add_countries, add_regions
from world.public_holidays import add_holidays
from world.sources import PINNED, installed_versions
from world.timezones import add_timezones
from world.writing import table, write_world

DATA = CATALOGUE["world"].built_in


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


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m world", description="Rebuild the world graph.")
    parser.add_argument("--out", type=Path, default=DATA, help="default: the packaged folder")
    folder: Path = parser.parse_args().out
    try:
        _warn_of_other_versions()
        graph = build_world()
        write_world(graph, folder)
    except (AssentError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(_summary(graph, folder))
    return 0


def _warn_of_other_versions() -> None:
    for package, version in installed_versions().items():
        if version != PINNED[package]:
            print(
                f"warning: {package} is {version}; the shipped graph was made with "
                f"{PINNED[package]}, expect other facts",
                file=sys.stderr,
            )


def _summary(graph: WorldGraph, folder: Path) -> str:
    facts = graph.facts()
    relations = {relation for _, relation, _ in facts}
    digest = hashlib.sha256(table(facts)).hexdigest()
    return (
        f"{folder}: {len(facts):,} facts, {len(graph.labels()):,} entities, "
        f"{len(relations)} relations, sha256 {digest}"
    )


if __name__ == "__main__":
    sys.exit(main())
