"""Tab- and comma-separated text: facts, and any other columns of names.

Polars reads what is usual. Whatever is unusual is read again line by line, to be handled or to be
refused by its line.
"""

import csv
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl

from assent.core.arrays import Ids
from assent.core.facts import HEADERS
from assent.errors import DataError
from assent.files.formats import COLUMNS, Format, Kept, Parsed
from assent.files.gathering import Gathering
from assent.files.text import (
    BOM,
    as_text,
    check_name,
    lines_of,
    open_bytes,
    read_bytes,
    readable,
)

SEPARATORS = {"\t": "tab-separated", ",": "comma-separated"}
# Polars would unpack what begins like one of these: gzip, zlib, zstd.
PACKED = (b"\x1f\x8b", b"x\x01", b"x^", b"x\x9c", b"x\xda", b"(\xb5/\xfd")

csv.field_size_limit(2**31 - 1)  # a name may be as long as its line
CR, LF = b"\r\n"
FEW_BLANK = 10_000  # pairs of line ends; polars makes a row of each
MOST_BLANK = 10_000_000
LARGE = 64 << 20  # bytes of a file that is read in blocks
PIECE = 24 << 20  # bytes of a file that is gathered from pieces
BLOCK = 1 << 17  # bytes looked at together: as many as fit the cache of the processor


def read_columns(path: Path, names: tuple[str, ...], separator: str = "\t") -> pl.DataFrame:
    """A file of text columns without a header; every field is a name."""
    frame = None
    with suppress(OSError, EOFError, zlib.error):  # reading lines says what is wrong, and where
        frame = _usual(read_bytes(path), names, separator)
    if frame is None:
        rows = [fields for _, fields in read_lines(path, names, separator)]
        frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    if not len(frame):
        raise DataError(f"{path}: nothing in it; expected lines of {_expected(names, separator)}")
    return frame


def fact_blocks(path: Path, separator: str = "\t", size: int = LARGE) -> Iterator[pl.DataFrame]:
    """The facts of a file that may fit no memory, in blocks of so many bytes; none is empty.

    A header that stands there again is refused last: what no line may hold is found before.
    """
    before, rows, blank = 0, 0, 0
    header: tuple[str, ...] | None = None
    again: int | None = None
    blocks = _found(path, separator, size)
    for content in blocks:
        frame = _usual(content, COLUMNS, separator)
        if frame is not None:
            lines = len(frame)  # no line of it is blank
        else:
            lines = content.count(b"\n") + (not content.endswith(b"\n"))
            numbered = _lines_in(content, path, before + 1)
            try:
                fields = [row for _, row in _fields(numbered, path, COLUMNS, separator, blank)]
            except DataError:
                for _ in blocks:  # what is too large is refused as that, whatever stands in it
                    pass
                raise
            frame = pl.DataFrame(fields, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
            blank += lines - len(frame)
        if separator == "," and len(frame):
            first = tuple(str(name) for name in frame.row(0))
            if not rows and tuple(map(str.lower, first)) in HEADERS:
                header, frame, rows = first, frame[1:], 1
            if header and again is None:
                again = _header_again(frame, header, rows)
        before += lines
        rows += len(frame)
        if len(frame):
            yield frame
    if again is not None:
        raise DataError(
            f"{path}:{line_of(path, again)}: the header stands there again; remove it, or "
            "give files that were joined one by one"
        )


def _found(path: Path, separator: str, size: int) -> Iterator[bytes]:
    """The blocks of a file of facts; where one cannot be unzipped, its lines say what is wrong."""
    blocks = blocks_of(path, size)
    while True:
        try:
            content = next(blocks, b"")
        except DataError as error:
            if error.__cause__ is not None:  # else it is too large
                for _ in read_lines(path, COLUMNS, separator):
                    pass
            raise
        if not content:
            return
        yield content


def blocks_of(path: Path, size: int = LARGE) -> Iterator[bytes]:
    """The bytes of a file, unzipped, in blocks of whole lines."""
    left: list[bytes] = []
    with readable(path), open_bytes(path) as file:
        while piece := file.read(size):
            end = piece.rfind(b"\n") + 1
            if end:
                yield b"".join((*left, piece[:end]))
                left = []
            if end < len(piece):
                left.append(piece[end:])
    if left:
        yield b"".join(left)


def _lines_in(content: bytes, path: Path, first: int) -> Iterator[tuple[int, str]]:
    """The number and the text of each line of a block; one that is no text is refused by it."""
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), start=first):
        yield number, as_text(line, path, number)


def decoded(content: bytes, path: Path) -> list[str]:
    """The lines of a block; what is no text is refused by its line in the file."""
    lines = content.removesuffix(b"\n").split(b"\n")
    try:
        return [line.removesuffix(b"\r").decode() for line in lines]
    except UnicodeDecodeError:
        for _ in lines_of(path):
            pass
        raise


def _usual(content: bytes, names: tuple[str, ...], separator: str) -> pl.DataFrame | None:
    """What polars reads from these bytes, if it can be trusted with them."""
    schema = dict.fromkeys(names, pl.String)
    try:
        if _is_usual(content, separator):
            frame = pl.read_csv(
                content, separator=separator, has_header=False, quote_char=None, schema=schema
            )
            return None if any(column.null_count() for column in frame) else frame
    except pl.exceptions.PolarsError:
        pass  # reading line by line says what is wrong, and where
    return None


def read_lines(
    path: Path, names: tuple[str, ...], separator: str
) -> Iterator[tuple[int, list[str]]]:
    """The number and the fields of each line that is not blank; errors name the line."""
    return _fields(enumerate(lines_of(path), start=1), path, names, separator)


def _fields(
    lines: Iterable[tuple[int, str]],
    path: Path,
    names: tuple[str, ...],
    separator: str,
    blank: int = 0,
) -> Iterator[tuple[int, list[str]]]:
    """The number and the fields of each numbered line; `blank` lines were met before these."""
    for number, line in lines:
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
    known: tuple[str, ...] | pl.Enum,
    path: Path,
    line: Callable[[int], int] = lambda place: place + 1,
) -> Ids:
    """The places of names among those that are known; an unknown one is refused by its line."""
    kind = known if isinstance(known, pl.Enum) else pl.Enum(known)
    ids = names.cast(kind, strict=False).to_physical()
    for place in ids.is_null().arg_true().head(1):
        few = len(kind.categories) < 5
        hint = f"choose from {', '.join(kind.categories)}" if few else "not in the vocabulary"
        raise DataError(f"{path}:{line(place)}: found {names[place]!r}; {hint}")
    return ids.to_numpy().astype(np.int32)


def write_tsv(frame: pl.DataFrame, path: Path, keep_rdf_terms: bool = False) -> None:
    """Tab-separated, no header, no quotes: no name holds a tab or a line break."""
    frame.write_csv(path, separator="\t", include_header=False, quote_style="never")


def write_blocks(frames: Iterable[pl.DataFrame], path: Path) -> None:
    """Writes frames that come one after another to one file, as `write_tsv` does one."""
    with path.open("wb") as file:
        for frame in frames:
            frame.write_csv(file, separator="\t", include_header=False, quote_style="never")


def _read(separator: str, path: Path, kept: Kept) -> Parsed:
    """Facts. The first line of a file with commas may be one of the known headers."""
    gathering = Gathering()
    for frame in fact_blocks(path, separator, PIECE):
        gathering.add(frame)
    if len(facts := gathering.facts()):
        return Parsed(facts)
    for _ in read_lines(path, COLUMNS, separator):
        raise DataError(f"{path}: nothing but a header in it; expected facts")
    raise DataError(f"{path}: nothing in it; expected lines of {_expected(COLUMNS, separator)}")


def _header_again(frame: pl.DataFrame, header: tuple[str, ...], before: int) -> int | None:
    """The row in which a header stands again, if it does; `before` rows came before these."""
    same = (pl.col(name) == word for name, word in zip(COLUMNS, header, strict=True))
    again = frame.select(again=pl.all_horizontal(same))["again"].arg_true().head(1).to_list()
    return before + int(again[0]) if again else None


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
    ".csv": Format(partial(_read, ",")),
}
