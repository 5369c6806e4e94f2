"""What all engines share: tables come and go as Parquet files in a folder for scratch."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from assent.core.engine import Columns

ROWS = 2_000_000  # in a block


def write_table(columns: Columns, path: Path) -> None:
    """Columns of numbers or text as a file."""
    pl.DataFrame(dict(columns)).write_parquet(path, compression="zstd", compression_level=1)


def blocks_in(files: Iterable[Path]) -> Iterator[Columns]:
    """The rows of files, one after another, in blocks."""
    for file in files:
        rows = pl.scan_parquet(file, glob=False)
        total = rows.select(pl.len()).collect().item()
        for start in range(0, total, ROWS):
            frame = rows.slice(start, ROWS).collect()
            yield {column.name: column.to_numpy() for column in frame}
