"""A named data set -> its folder: downloaded, checked, unpacked, and only then visible.

Everything comes into `NAME.part`, which becomes `NAME` by one rename when all sums are right.
What an interrupted download left in `NAME.part` is continued, by the next try or the next call.
A lock that the system frees with its process lets only one process at a time work on a data
set; a second one waits, and then finds it complete.
"""

import difflib
import gzip
import os
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assent.datasets.catalogue import CATALOGUE, Dataset, Derivation, train_file
from assent.datasets.downloading import (
    DEFAULTS,
    FetchSettings,
    Progress,
    download,
    sha256_of,
    silent,
)
from assent.datasets.unpacking import unpack
from assent.errors import ConfigError, FetchError
from assent.files.atomic import put_folder

State = Literal["built in", "here", "can be fetched"]


@dataclass(frozen=True, slots=True)
class Status:
    """A line of `assent data list`."""

    name: str
    title: str
    facts: int
    state: State
    download: int | None  # bytes to fetch, with a source that is not here; None if unknown
    path: Path | None
    licence: str


def cache_folder() -> Path:
    """Where fetched data sets live: $ASSENT_DATA, $XDG_CACHE_HOME/assent or ~/.cache/assent."""
    if chosen := os.environ.get("ASSENT_DATA"):
        return Path(chosen).expanduser()
    if cache := os.environ.get("XDG_CACHE_HOME"):
        return Path(cache).expanduser() / "assent"
    return Path.home() / ".cache" / "assent"


def located(
    name: str, home: Path | None = None, catalogue: Mapping[str, Dataset] = CATALOGUE
) -> Path | None:
    """The folder of a data set that is built in or already in `home` (the cache folder)."""
    if name != Path(name).name or name.startswith("."):
        return None  # a path, not a name
    built_in = catalogue[name].built_in if name in catalogue else None
    folder = built_in or (home or cache_folder()) / name
    return folder if train_file(folder) else None


def status(catalogue: Mapping[str, Dataset] = CATALOGUE) -> list[Status]:
    """What is here and what can be fetched, in the order of the catalogue."""
    return [_status(dataset, catalogue) for dataset in catalogue.values()]


def _status(dataset: Dataset, catalogue: Mapping[str, Dataset]) -> Status:
    path = located(dataset.name, catalogue=catalogue)
    state: State = "built in" if dataset.built_in else "here" if path else "can be fetched"
    size = dataset.size
    source = dataset.derivation.source if dataset.derivation else None
    if source and not located(source, catalogue=catalogue):
        more = catalogue[source].size
        size = None if size is None or more is None else size + more
    return Status(dataset.name, dataset.title, dataset.facts, state, size, path, dataset.licence)


def fetch(
    name: str,
    to: Path | None = None,
    progress: Progress = silent,
    settings: FetchSettings = DEFAULTS,
    catalogue: Mapping[str, Dataset] = CATALOGUE,
) -> Path:
    """The folder of the data set `name`, which is downloaded to `to/name` if it is not there."""
    dataset = _named(name, catalogue)
    home = to or cache_folder()
    if folder := located(name, home, catalogue):
        return folder
    if dataset.built_in:
        raise FetchError(f"{dataset.built_in}: no train file; {name} comes with assent: reinstall")
    source = None
    if dataset.derivation:
        # Before the lock: whoever waits for a data set never holds another one.
        wanted = dataset.derivation.source
        source = located(wanted, home, catalogue) or located(wanted, None, catalogue)
        source = source or fetch(wanted, home, progress, settings, catalogue)
    try:
        with _alone(home, name):
            folder = located(name, home, catalogue)
            return folder or _assemble(dataset, home, source, progress, settings)
    except OSError as problem:  # trouble of the network never gets here
        where = problem.filename or home
        raise FetchError(
            f"cannot write {where}: {problem.strerror or problem}; "
            "make room there, or choose another folder with --to or $ASSENT_DATA"
        ) from problem


def _named(name: str, catalogue: Mapping[str, Dataset]) -> Dataset:
    if name in catalogue:
        return catalogue[name]
    nearest = difflib.get_close_matches(name.lower(), catalogue, n=1)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    raise ConfigError(f"unknown data set {name!r}; {hint}choose from {', '.join(catalogue)}")


@contextmanager
def _alone(home: Path, name: str) -> Iterator[None]:
    """Waits until no other process works on this data set; others wait in turn."""
    home.mkdir(parents=True, exist_ok=True)
    # The file stays: removing it would let two processes lock two files of the same name.
    with (home / f".{name}.lock").open("a+b") as lock:
        if sys.platform == "win32":
            import msvcrt

            lock.seek(0)
            msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield  # closing the file frees the lock, and so does the end of the process


def _assemble(
    dataset: Dataset, home: Path, source: Path | None, progress: Progress, settings: FetchSettings
) -> Path:
    part, folder = home / f"{dataset.name}.part", home / dataset.name

    def refuse() -> None:
        raise FetchError(f"{folder}: exists but has no train file; move it away and fetch again")

    if folder.exists():
        refuse()
    part.mkdir(exist_ok=True)
    for file in dataset.files:
        download(file, part / file.name, progress, settings)
        if file.members:
            unpack(file, part, settings.largest)
    if dataset.derivation and source:
        _derive(dataset.derivation, part, source)
    for path in part.iterdir():
        if path.name not in dataset.contents:  # archives, leavings of older versions
            path.unlink()
    put_folder(part, folder, refuse)
    return folder


def _derive(derivation: Derivation, folder: Path, source: Path) -> None:
    try:
        derivation.make(folder, source)
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise FetchError(f"{source}: {problem}; expected {derivation.source}") from problem
    for name, expected in derivation.sums.items():
        if (found := sha256_of(folder / name)) != expected:
            (folder / name).unlink()
            # The downloads were checked, so it is the source that differs.
            raise FetchError(
                f"{name} made from {source}: expected sha256 {expected}, found {found}; "
                f"move that folder away, so that the original {derivation.source} is fetched"
            )
