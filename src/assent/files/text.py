"""Text files, plain or gzipped: their bytes, their lines, the JSON and the names in them."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from assent.errors import DataError

BOM = b"\xef\xbb\xbf"
GZIP = b"\x1f\x8b"


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file after its byte order mark. Whether it is gzipped, its first bytes say."""
    refuse_special(path)
    with path.open("rb") as raw:
        is_gzip = raw.read(len(GZIP)) == GZIP
        raw.seek(0)
        file = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if is_gzip else raw
        if file.read(len(BOM)) != BOM:
            file.seek(0)
        yield file


def read_bytes(path: Path) -> bytes:
    """All bytes of a file after its byte order mark, unzipped; faster than `open_bytes`."""
    refuse_special(path)
    content = path.read_bytes()
    content = gzip.decompress(content) if content.startswith(GZIP) else content
    return content.removeprefix(BOM)


@contextmanager
def readable(path: Path, place: Callable[[], str] | None = None) -> Iterator[None]:
    """Turns the errors of reading a file into one clear line, which names the `place`."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{place() if place else path}: the gzip data are cut short or damaged; "
            "expected a whole gzip file"
        ) from error
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error


def refuse_special(path: Path) -> None:
    """Refuses a pipe, socket or device in the place of a file: reading it might never end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise DataError(f"{path}: is a pipe, socket or device; expected a file")


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a text file without their ends."""
    number = 1
    try:
        with readable(path, lambda: f"{path}:{number}"), open_bytes(path) as file:
            for line in file:
                yield line.removesuffix(b"\n").removesuffix(b"\r").decode()
                number += 1
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}:{number}: byte {error.object[error.start]:#04x} at column {error.start + 1} "
            "is not UTF-8; save the file as UTF-8"
        ) from error


def read_json(path: Path) -> Any:
    """What a JSON file holds."""
    text = "\n".join(lines_of(path))
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{error.lineno}: {error.msg}; expected JSON") from error
    except RecursionError as error:
        raise DataError(f"{path}: nested too deeply; expected JSON") from error
    except ValueError as error:  # Python's own guard against numbers that take hours to read
        raise DataError(f"{path}: a number of more than 4300 digits; expected JSON") from error


def is_text(value: object) -> bool:
    """Whether it is text that a file can hold. JSON and YAML may hold one of two surrogates."""
    return isinstance(value, str) and value == value.encode(errors="replace").decode()


def check_name(name: str, kind: str, where: str) -> None:
    """Refuses a name that could not be read back from a line of text."""
    if not name:
        raise DataError(f"{where}: the {kind} is empty; expected a name")
    if "\t" in name or "\n" in name or "\r" in name:
        raise DataError(f"{where}: the {kind} {name!r} holds a tab or a line break; a name may not")
    if name.startswith("\ufeff"):  # what is left where files were joined
        raise DataError(
            f"{where}: the {kind} {name!r} begins with a byte order mark; a name may not"
        )
