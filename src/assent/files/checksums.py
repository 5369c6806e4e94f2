"""Checksums: how a file vouches for itself, and a folder for its files.

A JSON document has its own checksum under "checksum" (`sealed`, `unsealed`). A folder has
`checksums.json`: the sha256 of each file that assent wrote into it (`recording.py` writes it). What
has no checksum is older than checksums, or was not written by assent; it cannot be checked, and is
not refused.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from assent.errors import DataError
from assent.files.guarding import refuse_special
from assent.files.text import is_name, read_json

FORMAT = 1
CHECKSUMS = "checksums.json"
SEAL = "checksum"  # where a document has its own

# File -> the checksums that it may have. There are two while one is being replaced: that of the
# old file (or ABSENT, if there was none) and that of the new, so that a command killed in between
# leaves nothing wrong.
ABSENT = "absent"
Known = Mapping[str, tuple[str, ...]]


def digest(path: Path) -> str:
    """The sha256 of a file's bytes."""
    refuse_special(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document for JSON with its own checksum."""
    return {**document, SEAL: _seal(document)}


def unsealed(document: Any, path: Path) -> Any:
    """A document without its checksum, which must be right where there is one."""
    if not isinstance(document, dict) or SEAL not in document:
        return document
    rest = {name: value for name, value in document.items() if name != SEAL}
    try:
        right = document[SEAL] == _seal(rest)
    except RecursionError as error:
        raise DataError(f"{path}: nested too deeply; expected what assent wrote") from error
    if not right:
        raise changed(path)
    return rest


def changed(path: Path) -> DataError:
    """What to say of a file that is not as assent wrote it."""
    return DataError(
        f"{path}: not as assent wrote it: its checksum is wrong; put the original back, make it "
        f"anew, or, if you meant to change it, `assent verify {path.parent} --renew`"
    )


def read_checksums(folder: Path) -> Known:
    """The checksums of a folder; none where it has no `checksums.json`."""
    path = folder / CHECKSUMS
    if not path.exists():
        return {}
    document = unsealed(read_json(path), path)
    try:
        if document["format"] != FORMAT:
            raise DataError(f"{path}: format {document['format']!r}; expected {FORMAT}")
        known = {str(name): tuple(map(str, sums)) for name, sums in document["files"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path}: not the checksums of a folder, as assent writes them") from error
    for name in known:
        if not is_name(name):
            raise DataError(f"{path}: {name[:40]!r} is no name of a file in this folder")
    return known


def files_in(folder: Path) -> list[Path]:
    """The files of a folder that checksums can be about."""
    found = sorted(path for path in folder.iterdir() if path.is_file())
    return [path for path in found if path.name != CHECKSUMS and not path.name.startswith(".")]


def check(folder: Path, names: Iterable[str] | None = None) -> None:
    """Refuses files that are not as assent wrote them: these, or all that have a checksum."""
    known = read_checksums(folder)
    for name in known if names is None else names:
        if name not in known:
            continue
        try:
            check_file(folder / name, known[name])
        except DataError:
            now = read_checksums(folder).get(name, ())
            if now == known[name]:
                raise
            check_file(folder / name, now)  # another process has just replaced it


def check_file(path: Path, sums: tuple[str, ...]) -> None:
    """Refuses a file that has none of these checksums, or is lost."""
    if not path.exists():
        if ABSENT in sums:
            return
        raise DataError(f"{path}: not there, but was when assent wrote the folder; put it back")
    if digest(path) not in sums:
        raise changed(path)


def _seal(document: Mapping[str, Any]) -> str:
    """The sha256 of what JSON says of a document, in whatever order and with whatever spaces."""
    plain = json.loads(json.dumps(document))
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
