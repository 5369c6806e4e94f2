"""A toy data set, fetched in haste."""

from collections.abc import Mapping
from pathlib import Path

from assent.datasets import Dataset, FetchSettings, fetch

HASTY = FetchSettings(timeout=5.0, tries=3, pause=0.01)


def get(home: Path, catalogue: Mapping[str, Dataset], settings: FetchSettings = HASTY) -> Path:
    return fetch("toy", home, settings=settings, catalogue=catalogue)


def nothing_final(home: Path) -> bool:
    return not (home / "toy").exists()
