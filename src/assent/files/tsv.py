"""Tab- and comma-separated text: facts, and any other columns of names.

Polars reads what is usual. Whatever is unusual is read again line by line, to be handled or to be
refused by its line.
"""

import csv
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl

from assent.core.arrays import Ids
from assent.errors import DataError
from assent.files.formats import COLUMNS, HEADERS, Format, Kept, Parsed
from assent.files.text import BOM, check_name, lines_of, read_bytes

SEPARATORS = {"\t": "tab-separated", ",": "comma-separated"}
# Polars would unpack what begins like one of these: gzip, zlib, zstd.
PACKED = (b"\x1f\x8b", b"x\x01", b"x^", b"x\x9c", b"x\xda", b"(\xb5/\xfd")

csv.field_size_limit(2**31 - 1)  # a name may be as long as its line
CR, LF = b"\r\n"
FEW_BLANK = 10_000  # pairs of line ends; polars makes a row of each
MOST_BLANK = 10_000_000
BLOCK = 1 << 17  # bytes looked at together: as many as fit the cache of the processor


def read_columns(path: Path, names: tuple[str, ...], separator: str = "\t") -> pl.DataFrame:
    """A file of text columns without a header; every field is a name."""
    schema = dict.fromkeys(names, pl.String)
    frame = None
    try:
        content = read_bytes(path)
        if _is_usual(content, separator):
            frame = pl.read_csv(
                content, separator=separator, has_header=False, quote_char=None, schema=schema
            )
    except (pl.exceptions.PolarsError, OSError, EOFError, zlib.error):
        pass  # reading line by line says what is wrong, and where
    if frame is None or any(column.null_count() for column in frame):
        rows = [fields for _, fields in read_lines(path, names, separator)]
        frame = pl.DataFrame(rows, schema=schema, orient="row")
    if not len(frame):
        raise DataError(f"{path}: nothing in it; expected lines of {_expected(names, separator)}")
    return frame


def read_lines(
    path: Path, names: tuple[str, ...], separator: str
) -> Iterator[tuple[int, list[str]]]:
    """The number and the fields of each line that is not blank; errors name the line."""
    blank = 0
    for number, line in enumerate(lines_of(path), start=1):
        if not line:
            blank += 1
            if blank > MOST_BLANK:
                raise DataError(f"{path}: more than {MOST_BLANK:,} blank lines; expected facts")
            continue
        fields = _split(line, separator, path, number)
        if len(fields) != len(names):
            raise DataError(
                f"{path}:{number}: expected {_expected(names, separator)}, found {len(fields)}"
            )
        for name, field in zip(names, fields, strict=True):
            check_name(field, name, f"{path}:{number}")
        yield number, fields


def line_of(path: Path, row: int) -> int:
    """The number of the line that became this row; blank lines became no rows."""
    numbers = (number for number, line in enumerate(lines_of(path), start=1) if line)
    return next(islice(numbers, row, None))


def ids_of(
    names: pl.Series,
    known: tuple[str, ...],
    path: Path,
    line: Callable[[int], int] = lambda place: place + 1,
) -> Ids:
    """The places of names among those that are known; an unknown one is refused by its line."""
    ids = names.cast(pl.Enum(known), strict=False).to_physical()
    for place in ids.is_null().arg_true().head(1):
        hint = f"choose from {', '.join(known)}" if len(known) < 5 else "not in the vocabulary"
        raise DataError(f"{path}:{line(place)}: found {names[place]!r}; {hint}")
    return ids.to_numpy().astype(np.int32)


def write_tsv(frame: pl.DataFrame, path: Path, keep_rdf_terms: bool = False) -> None:
    """Tab-separated, no header, no quotes: no name holds a tab or a line break."""
    frame.write_csv(path, separator="\t", include_header=False, quote_style="never")


def _read(separator: str, path: Path, kept: Kept) -> Parsed:
    return Parsed(read_columns(path, COLUMNS, separator))


def _read_csv(path: Path, kept: Kept) -> Parsed:
    """Facts; the first line may be one of the known headers."""
    frame = read_columns(path, COLUMNS, ",")
    if tuple(str(name).lower() for name in frame.row(0)) not in HEADERS:
        return Parsed(frame)
    if len(frame) == 1:
        raise DataError(f"{path}: nothing but a header in it; expected facts")
    again = pl.all_horizontal(
        pl.col(name) == word for name, word in zip(COLUMNS, frame.row(0), strict=True)
    )
    for row in frame.select(again=again)["again"][1:].arg_true().head(1):
        raise DataError(
            f"{path}:{line_of(path, row + 1)}: the header stands there again; remove it, or give "
            "files that were joined one by one"
        )
    return Parsed(frame[1:])


def _is_usual(content: bytes, separator: str) -> bool:
    """Whether polars reads the same from these bytes as `read_lines`, if it reads them at all."""
    return not (
        content.startswith(PACKED)
        or content.count(b"\n\n") > FEW_BLANK
        or (BOM[:1] in content and BOM in content)  # one byte is found faster than three
        or _has_lone_return(content)
        or (separator == "," and (b'"' in content or b"\t" in content))
    )


def _has_lone_return(content: bytes) -> bool:
    """Whether a CR stands elsewhere than before LF; polars drops it at the end of any field."""
    if b"\r" not in content:
        return False
    octets = np.frombuffer(content, dtype=np.uint8)
    blocks = (octets[start : start + BLOCK + 1] for start in range(0, len(octets), BLOCK))
    lone = (((block[:-1] == CR) & (block[1:] != LF)).any() for block in blocks)
    return content.endswith(b"\r") or any(lone)


def _expected(names: tuple[str, ...], separator: str) -> str:
    """What a line should hold, in words."""
    return f"{len(names)} {SEPARATORS[separator]} columns ({', '.join(names)})"


def _split(line: str, separator: str, path: Path, number: int) -> list[str]:
    if separator == "\t" or '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        raise DataError(
            f"{path}:{number}: {error}; expected quoted fields to end on their line"
        ) from error


FORMATS = {
    ".tsv": Format(partial(_read, "\t"), write=write_tsv),
    ".txt": Format(partial(_read, "\t")),
    ".csv": Format(_read_csv),
}
