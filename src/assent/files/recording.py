"""`checksums.json`, as it is written: a folder vouches for the files that assent puts into it.

Commands that change it at once wait for one another, so that none loses what another has written.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from assent.files.atomic import alone, beside
from assent.files.checksums import (
    ABSENT,
    CHECKSUMS,
    FORMAT,
    SEAL,
    Known,
    digest,
    files_in,
    read_checksums,
    sealed,
)
from assent.files.text import read_json

LOCK = ".checksums.lock"  # there while a command changes the checksums


def seal_folder(folder: Path) -> None:
    """Writes the checksums of all files that a new folder holds."""
    _write(folder, {path.name: (digest(path),) for path in files_in(folder)})


@contextmanager
def recorded(path: Path) -> Iterator[Path]:
    """A path to write a file to, as `beside`; the file is vouched for before it has its name."""
    folder, name = path.parent, path.name
    with ExitStack() as until_named:
        with beside(path, own=True) as part:
            yield part
            new = digest(part)
            until_named.enter_context(alone(folder / LOCK))
            known = read_checksums(folder)
            _write(folder, {**known, name: (*known.get(name, (ABSENT,)), new)})
        _write(folder, {**known, name: (new,)})


def record(*paths: Path) -> None:
    """Takes files of one folder as they are now, all at once."""
    new = {path.name: (digest(path),) for path in paths}
    for folder in {path.parent for path in paths}:
        with alone(folder / LOCK):
            _write(folder, {**read_checksums(folder), **new})


def forget(path: Path) -> None:
    """A file that will change, and has no checksum until it is recorded again."""
    if path.name in read_checksums(path.parent):
        with alone(path.parent / LOCK):
            known = read_checksums(path.parent)
            left = {name: sums for name, sums in known.items() if name != path.name}
            _write(path.parent, left)


def reseal(path: Path) -> None:
    """Gives a document that was changed by hand the checksum of what it says now."""
    document = read_json(path)
    if isinstance(document, dict):
        rest = {name: value for name, value in document.items() if name != SEAL}
        with beside(path, own=True) as part:
            part.write_text(json.dumps(sealed(rest), indent=1) + "\n", encoding="utf-8")


def _write(folder: Path, known: Known) -> None:
    files = {name: list(sums) for name, sums in sorted(known.items())}
    text = json.dumps(sealed({"format": FORMAT, "files": files}), indent=1, ensure_ascii=False)
    with beside(folder / CHECKSUMS, own=True) as part:
        part.write_text(text + "\n", encoding="utf-8", newline="\n")
