"""A benchmark folder, in assent's own layout or in that of the published FB14k-QAQ."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from assent.core.benchmark import Benchmark
from assent.core.streamed import Streamed
from assent.errors import ConfigError, DataError
from assent.files.atomic import folder_beside, found_again
from assent.files.checksums import check, read_checksums
from assent.files.croissant import write_croissant
from assent.files.own_layout import (
    OPTIONAL,
    looks_ours,
    miscounted,
    read_own,
    write_own,
    write_streamed,
)
from assent.files.places import MANIFEST
from assent.files.published import looks_published, read_published, write_published
from assent.files.recording import seal_folder


class Layout(NamedTuple):
    """A way to keep a benchmark in a folder."""

    fits: Callable[[Path], bool]  # whether a folder is in this layout
    read: Callable[[Path], Benchmark]
    write: Callable[[Benchmark, Path], None]
    marks: str  # what such a folder holds, in words


def load(path: str | Path) -> Benchmark:
    """Reads a benchmark folder; its files say which layout it is in."""
    path = found_again(Path(path))
    for layout in LAYOUTS.values():
        if layout.fits(path):
            benchmark = layout.read(path)  # first: it can say what is wrong, and in which line
            _check_counts(benchmark, path)
            check_whole(path)
            return benchmark
    expected = " or ".join(f"with {layout.marks}" for layout in LAYOUTS.values())
    raise DataError(f"{path}: not a benchmark; expected a folder {expected}")


def save(
    benchmark: Benchmark, path: str | Path, *, layout: str = "assent", overwrite: bool = False
) -> None:
    """Writes a benchmark folder, whole or not at all."""
    if layout not in LAYOUTS:
        raise ConfigError(f"unknown layout {layout!r}; choose from {', '.join(LAYOUTS)}")
    with folder_beside(Path(path), is_benchmark, overwrite) as part:
        LAYOUTS[layout].write(benchmark, part)
        write_croissant(part, benchmark.origin)
        seal_folder(part)


def renew(path: Path) -> None:
    """Takes a benchmark as its files are now, if they fit one another, and writes it anew."""
    for name, layout in LAYOUTS.items():
        if layout.fits(path):
            save(layout.read(path), path, layout=name, overwrite=True)
            return


def check_whole(folder: Path) -> None:
    """Refuses a folder of which a file was changed, lost or added since assent wrote it."""
    check(folder)
    known = read_checksums(folder)
    for name in OPTIONAL if known else ():
        if name not in known and (folder / name).exists():
            raise DataError(
                f"{folder / name}: not there when assent wrote the folder; remove it, or, if you "
                f"meant to add it, `assent verify {folder} --renew`"
            )


def is_benchmark(path: Path) -> bool:
    """Whether a folder holds a benchmark, and so may be replaced by one."""
    return any(layout.fits(path) for layout in LAYOUTS.values())


def save_streamed(benchmark: Streamed, path: str | Path, *, overwrite: bool = False) -> None:
    """Writes a benchmark that comes in blocks, whole or not at all, in assent's own layout."""
    with folder_beside(Path(path), is_benchmark, overwrite) as part:
        write_streamed(benchmark, part)
        write_croissant(part, benchmark.origin)
        seal_folder(part)


def _check_counts(benchmark: Benchmark, folder: Path) -> None:
    """Refuses a benchmark that has more or less of something than its manifest says."""
    for what, stated, found in miscounted(benchmark):
        raise DataError(
            f"{folder}: {found:,} {what}, but {MANIFEST} counts {stated:,}; the files were cut "
            "short or changed; put them back, or build the benchmark anew"
        )


LAYOUTS = {
    "assent": Layout(
        looks_ours,
        read_own,
        write_own,
        f"{MANIFEST} (made by `assent build`)",
    ),
    "published": Layout(
        looks_published,
        read_published,
        write_published,
        "valid_obj.txt and its kin (the layout of FB14k-QAQ)",
    ),
}
