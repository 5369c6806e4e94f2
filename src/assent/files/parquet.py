"""Facts and other tables in Parquet files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from assent.core.facts import HEADERS
from assent.errors import DataError
from assent.files.formats import COLUMNS, Format, Kept, Parsed
from assent.files.guarded_parquet import refuse_parquet
from assent.files.guarding import refuse_special
from assent.files.text import check_name

ROWS = 1_000_000  # in a block
BAD = "^$|[\t\n\r]|^\ufeff"  # what `check_name` refuses


def _read(path: Path, kept: Kept) -> Parsed:
    """Three columns of text or whole numbers: by name under a known header, else by position."""
    frame = read_frame(path)
    if not len(frame) and frame.width == len(COLUMNS):
        raise DataError(f"{path}: nothing in it; expected facts")
    return Parsed(_facts(frame, path))


def fact_blocks(path: Path) -> Iterator[pl.DataFrame]:
    """The facts of a file that may fit no memory, in blocks; none is empty."""
    with _readable(path):
        rows = pl.scan_parquet(path, glob=False)
        total = rows.select(pl.len()).collect().item()
        for start in range(0, total, ROWS):
            yield _facts(rows.slice(start, ROWS).collect(), path, start)


def _facts(frame: pl.DataFrame, path: Path, first: int = 0) -> pl.DataFrame:
    if frame.width != len(COLUMNS):
        raise DataError(f"{path}: expected 3 columns ({', '.join(COLUMNS)}), found {frame.width}")
    columns = {
        name: names_in(column, name, path, first)
        for name, column in zip(COLUMNS, _in_order(frame), strict=True)
    }
    return pl.DataFrame(columns)


def _write(frame: pl.DataFrame, path: Path, keep_rdf_terms: bool) -> None:
    frame.write_parquet(path)


def read_frame(path: Path) -> pl.DataFrame:
    """All columns of a file, whatever they hold."""
    with _readable(path):
        return pl.read_parquet(path, glob=False)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    refuse_special(path)
    refuse_parquet(path)
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DataError(f"{path}: not a Parquet file that can be read: {error}") from error


def _in_order(frame: pl.DataFrame) -> list[pl.Series]:
    """The columns as head, relation, tail."""
    by_name = {column.name.lower(): column for column in frame}
    for header in HEADERS:
        if set(header) == set(by_name):
            return [by_name[name] for name in header]
    return frame.get_columns()


def names_in(column: pl.Series, name: str, path: Path, first: int = 0) -> pl.Series:
    """A column as names; a value that cannot be one is refused by its row, counted from `first`."""
    if not (column.dtype == pl.String or column.dtype.is_integer()):
        raise DataError(f"{path}: the {name} column holds {column.dtype}; expected text")
    column = column.cast(pl.String).fill_null("")
    for row in column.str.contains(BAD).arg_true().head(1):
        check_name(column[row], name, f"{path}:{first + row + 1}")
    return column


FORMATS = {
    ".parquet": Format(_read, write=_write, gzipped=False),
}
