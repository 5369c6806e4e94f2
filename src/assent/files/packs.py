"""A pack: one zip file that holds a run, what it needs, and the checksums of all of it.

Nothing in a pack can run. It is hostile until it is read: paths that lead elsewhere, links, names
that stand twice, kinds of files that assent does not write, and archives that grow without bound
are refused before a byte is written.
"""

import json
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from assent.core.legible import in_words
from assent.core.version import __version__
from assent.errors import DataError
from assent.files.atomic import beside, folder_beside
from assent.files.checksums import digest, sealed, unsealed
from assent.files.guarding import MALFORMED, refuse_special

FORMAT = 1
ABOUT = "pack.json"
KINDS = (".csv", ".json", ".jsonl", ".md", ".npz", ".safetensors", ".toml", ".tsv", ".txt")
MOST_FILES = 10_000
MOST_RATIO, FREE_BYTES = 200, 100 << 20  # unpacked bytes for each packed one, and those for nothing
MOST_ABOUT = 16 << 20  # bytes of pack.json
FIRST_TIME = (1980, 1, 1, 0, 0, 0)  # the same files make the same pack
WRONG = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError)


def write_pack(path: Path, folder: Path, about: Mapping[str, Any]) -> None:
    """Puts all files of a folder into a pack."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    names = {file.relative_to(folder).as_posix(): file for file in files}
    sums = {name: digest(file) for name, file in names.items()}
    document = {"format": FORMAT, "assent": __version__, **about, "files": sums}
    text = json.dumps(sealed(document), indent=1, ensure_ascii=False) + "\n"
    with beside(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry(ABOUT), text)
        for name, file in names.items():
            with file.open("rb") as source, archive.open(_entry(name), "w", force_zip64=True) as to:
                shutil.copyfileobj(source, to)


def unpack(path: Path, out: Path) -> None:
    """Writes the files of a pack into a new folder, if all of them are right."""
    with _opened(path) as (archive, sums), folder_beside(out, lambda _: False) as part:
        for name, expected in sums.items():
            target = part.joinpath(*PurePosixPath(name).parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(name) as source, target.open("xb") as file:
                shutil.copyfileobj(source, file)
            if digest(target) != expected:
                raise DataError(f"{path}: {name}: its checksum is wrong; get the pack anew")


def is_pack(path: Path) -> bool:
    return path.is_file() and path.suffix == ".zip"


def names_in(path: Path) -> tuple[str, ...]:
    """The files of a pack that may be unpacked."""
    with _opened(path) as (_, sums):
        return tuple(sums)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, FIRST_TIME)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return entry


@contextmanager
def _opened(path: Path) -> Iterator[tuple[zipfile.ZipFile, dict[str, str]]]:
    """A pack and the checksums of its files, after all that can be known without unpacking."""
    refuse_special(path)
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_hostile(path, archive)
            yield archive, _sums(path, archive)
    except WRONG as error:
        raise DataError(f"{path}: not a pack, or a damaged one ({error}); get it anew") from error
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error


def _refuse_hostile(path: Path, archive: zipfile.ZipFile) -> None:
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise DataError(f"{path}: more than {MOST_FILES:,} files; no pack has so many")
    seen: set[str] = set()
    for entry in entries:
        name = entry.orig_filename
        place, mode = PurePosixPath(name), entry.external_attr >> 16
        odd = any(part.startswith(".") or ":" in part for part in place.parts)
        if place.is_absolute() or odd or "\\" in name or not name.isprintable():
            raise DataError(f"{path}: {name!r} leads elsewhere; expected files of a run")
        if place.as_posix() != name or place.suffix not in KINDS:
            raise DataError(f"{path}: {name!r} is no file that a run has")
        if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise DataError(f"{path}: {name!r} is a link or another special file")
        if name.casefold() in seen:
            raise DataError(f"{path}: {name!r} stands twice; expected each file once")
        seen.add(name.casefold())
    unpacked, most = (
        sum(entry.file_size for entry in entries),
        MOST_RATIO * path.stat().st_size + FREE_BYTES,
    )
    if unpacked > most:
        raise DataError(f"{path}: unpacks to {unpacked:,} bytes, more than the {most:,} allowed")


def _sums(path: Path, archive: zipfile.ZipFile) -> dict[str, str]:
    try:
        if archive.getinfo(ABOUT).file_size > MOST_ABOUT:
            raise DataError(f"{path}: {ABOUT} has more than {MOST_ABOUT:,} bytes")
        document = json.loads(archive.read(ABOUT))
        if document["format"] != FORMAT:
            raise ValueError(f"format {document['format']!r}; expected {FORMAT}")
        sums = {str(name): str(value) for name, value in document["files"].items()}
    except MALFORMED as error:
        raise DataError(f"{path}: not a pack of assent ({in_words(error)})") from error
    try:
        unsealed(document, path)
    except DataError as error:
        raise DataError(f"{path}: {ABOUT}: its checksum is wrong; get the pack anew") from error
    if set(archive.namelist()) - {ABOUT} != set(sums):
        raise DataError(f"{path}: not the files that {ABOUT} names; get the pack anew")
    return sums
