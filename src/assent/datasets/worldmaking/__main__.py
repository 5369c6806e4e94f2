"""Rebuild the world graph: `python -m assent.datasets.worldmaking --out FOLDER`."""

import argparse
import hashlib
import sys
from pathlib import Path

from assent.datasets.worldmaking.building import build_world
from assent.datasets.worldmaking.graph import WorldGraph
from assent.datasets.worldmaking.sources import PINNED, installed_versions
from assent.datasets.worldmaking.writing import table, write_world
from assent.errors import AssentError

PACKAGED = Path(__file__).parent.parent / "world"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m assent.datasets.worldmaking", description="Rebuild the world graph."
    )
    parser.add_argument("--out", type=Path, default=PACKAGED, help="default: the packaged folder")
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
