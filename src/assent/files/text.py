"""Text files, plain or gzipped: their bytes, their lines, the JSON, names and paths in them."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, cast

from assent.errors import DataError
from assent.files.guarding import refuse_special

BOM = b"\xef\xbb\xbf"
GZIP = b"\x1f\x8b"
UNPACKED = 64 << 20  # bytes that any gzipped file may unpack to, ...
RATIO = 100  # ... or so many times its size: text shrinks to a fifth, or to a thirtieth
LONGEST_NAME, LONGEST_PATH = 255, 2000  # bytes of a file's name, of a path, on any usual disk
_most: ContextVar[int | None] = ContextVar("most", default=None)


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file after its byte order mark. Whether it is gzipped, its first bytes say."""
    refuse_special(path)
    with path.open("rb") as raw:
        is_gzip = raw.read(len(GZIP)) == GZIP
        raw.seek(0)
        file = cast(IO[bytes], _Unpacking(path, raw)) if is_gzip else raw
        if file.read(len(BOM)) != BOM:
            file.seek(0)
        yield file


def read_bytes(path: Path) -> bytes:
    """All bytes of a file after its byte order mark, unzipped."""
    with open_bytes(path) as file:
        return file.read()


@contextmanager
def unpacking(most: int | None) -> Iterator[None]:
    """Within it, a gzipped file may unpack to so many bytes; None: as many as is usual."""
    token = _most.set(most)
    try:
        yield
    finally:
        _most.reset(token)


class _Unpacking(gzip.GzipFile):
    """Stops at a bound: a small file can unpack to terabytes of zeros."""

    def __init__(self, path: Path, raw: IO[bytes]) -> None:
        super().__init__(fileobj=raw)
        self.path = path
        self.most = _most.get() or max(UNPACKED, RATIO * path.stat().st_size)

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(self.most + 1 if size is None or size < 0 else size)
        self._refuse()
        return data

    def readline(self, size: int | None = -1) -> bytes:
        limit = self.most + 1 if size is None or size < 0 else size
        line = super().readline(limit)
        self._refuse()
        return line

    def _refuse(self) -> None:
        if self.tell() > self.most:
            raise DataError(
                f"{self.path}: unpacks to more than {self.most / 1e6:,.0f} MB, far more than text "
                "does; if that is right, allow it with --max-size"
            )


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


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a text file without their ends."""
    number = 1
    with readable(path, lambda: f"{path}:{number}"), open_bytes(path) as file:
        for line in file:
            yield as_text(line.removesuffix(b"\n"), path, number)
            number += 1


def as_text(line: bytes, path: Path, number: int) -> str:
    """A line without the CR at its end; what is no text is refused by its number."""
    try:
        return line.removesuffix(b"\r").decode()
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


def can_be_path(value: object) -> bool:
    """Whether something that a file states can lead anywhere, or is only text.

    To look at what cannot be a path, such as a name of 5,000 letters, is an error of its own.
    """
    if not is_text(value) or "\0" in str(value):
        return False
    parts = [len(part) for part in str(value).encode().split(b"/")]
    return max(parts) <= LONGEST_NAME and sum(parts) + len(parts) <= LONGEST_PATH


def is_name(value: object) -> bool:
    """Whether it can be the name of a file in a folder, and leads nowhere else."""
    return can_be_path(value) and value not in ("", "..") and Path(str(value)).name == value


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
