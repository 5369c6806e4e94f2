"""Columns of text from tab- or comma-separated files: fast where all is well, exact where not."""

import csv
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import polars as pl

from assent.errors import DataError

BOM = b"\xef\xbb\xbf"
SEPARATORS = {"\t": "tab-separated", ",": "comma-separated"}
CONTROL = "\t\n\r"  # what no name may hold: it would break the line it is written to


def read_columns(path: Path, names: tuple[str, ...], separator: str = "\t") -> pl.DataFrame:
    """A file of text columns without a header, none of its fields empty.

    Polars reads it. Whatever is unusual is read again line by line, to be handled or to be
    refused by its line.
    """
    try:
        frame = pl.read_csv(
            path,
            separator=separator,
            has_header=False,
            quote_char=None,
            schema=dict.fromkeys(names, pl.String),
            glob=False,
        )
        usual = not any(column.null_count() for column in frame)
        usual = usual and not (separator == "," and any(_has_quote(column) for column in frame))
    except (pl.exceptions.PolarsError, OSError):
        usual = False
    if not usual:
        rows = list(read_lines(path, names, separator))
        frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    if not len(frame):
        raise DataError(f"{path}: nothing in it; expected lines of {expected(names, separator)}")
    return frame


def read_lines(path: Path, names: tuple[str, ...], separator: str) -> Iterator[list[str]]:
    """The same, one line at a time: what reading means, and where it fails."""
    for number, line in enumerate(lines_of(path), start=1):
        if not line:
            continue
        fields = _split(line, separator, path, number)
        if len(fields) != len(names):
            raise DataError(
                f"{path}:{number}: expected {expected(names, separator)}, found {len(fields)}"
            )
        for name, field in zip(names, fields, strict=True):
            if not field:
                raise DataError(f"{path}:{number}: the {name} is empty; expected a name")
            if any(control in field for control in CONTROL):
                raise DataError(
                    f"{path}:{number}: the {name} {field!r} holds a tab or a line break; "
                    "a name may not"
                )
        yield fields


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a text file, plain or gzipped, without their ends and without a BOM."""
    number = 0
    try:
        with open_bytes(path) as file:
            for number, raw in enumerate(file, start=1):
                line = raw.removeprefix(BOM) if number == 1 else raw
                yield line.removesuffix(b"\n").removesuffix(b"\r").decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}:{number}: byte {error.object[error.start]:#04x} at column {error.start + 1} "
            "is not UTF-8; save the file as UTF-8"
        ) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{path}:{number + 1}: the gzip data are cut short or damaged; "
            "expected a whole gzip file"
        ) from error
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error


def open_bytes(path: Path) -> IO[bytes]:
    """Opens a file, gzipped or not: what it is stands in its first bytes, not in its name."""
    with path.open("rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    return cast(IO[bytes], gzip.open(path)) if is_gzip else path.open("rb")


def bad_names(names: pl.Series) -> pl.Series:
    """Those that are empty or would break the line they are written to."""
    return names.filter((names == "") | names.str.contains(f"[{CONTROL}]"))


def expected(names: tuple[str, ...], separator: str) -> str:
    """What a line should hold, in words."""
    return f"{len(names)} {SEPARATORS[separator]} columns ({', '.join(names)})"


def _split(line: str, separator: str, path: Path, number: int) -> list[str]:
    if separator == "\t":
        return line.split("\t")
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        raise DataError(
            f"{path}:{number}: {error}; expected quoted fields to end on their line"
        ) from error


def _has_quote(column: pl.Series) -> bool:
    return bool(column.str.contains('"', literal=True).any())
