"""Facts and other tables from Parquet files."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from assent.errors import DataError
from assent.files.columns import check_name

BAD = "^$|[\t\n\r]|^\ufeff"  # what `check_name` refuses


def read_parquet(
    path: Path, names: tuple[str, ...], headers: Iterable[tuple[str, ...]]
) -> pl.DataFrame:
    """Three columns of text or whole numbers: by name under a known header, else by position."""
    frame = read_frame(path)
    if frame.width != len(names):
        raise DataError(f"{path}: expected 3 columns ({', '.join(names)}), found {frame.width}")
    if not len(frame):
        raise DataError(f"{path}: nothing in it; expected facts")
    return pl.DataFrame(
        {
            name: names_in(column, name, path)
            for name, column in zip(names, _in_order(frame, headers), strict=True)
        }
    )


def read_frame(path: Path) -> pl.DataFrame:
    """All columns of a file, whatever they hold."""
    try:
        return pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DataError(f"{path}: not a Parquet file that can be read: {error}") from error


def _in_order(frame: pl.DataFrame, headers: Iterable[tuple[str, ...]]) -> list[pl.Series]:
    by_name = {column.name.lower(): column for column in frame}
    for header in headers:
        if set(header) == set(by_name):
            return [by_name[name] for name in header]
    return frame.get_columns()


def names_in(column: pl.Series, name: str, path: Path) -> pl.Series:
    """A column as names; what could not be one is refused by its row."""
    if not (column.dtype == pl.String or column.dtype.is_integer()):
        raise DataError(f"{path}: the {name} column holds {column.dtype}; expected text")
    column = column.cast(pl.String).fill_null("")
    for row in column.str.contains(BAD).arg_true().head(1):
        check_name(column[row], name, f"{path}:{row + 1}")
    return column
