"""DuckDB: SQL on one machine, in as much memory as it is given, the rest on disk."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import duckdb
import numpy as np

from assent.core.engine import Columns
from assent.core.hashing import DIGITS
from assent.errors import DataError
from assent.files.engines.parquet_tables import ROWS, blocks_in, write_table


class DuckDB:
    """Tables in a file of a scratch folder, which also holds what does not fit into memory."""

    def __init__(self, scratch: Path, memory: int) -> None:
        self.scratch = scratch
        self.connection = duckdb.connect(str(scratch / "tables.duckdb"))
        self.connection.execute(f"SET memory_limit = '{memory // 1_000_000} MB'")
        self.connection.execute("SET temp_directory = ?", [str(scratch / "spilled")])
        # Rows have no order but that of ORDER BY; to keep another would take memory.
        self.connection.execute("SET preserve_insertion_order = false")
        self.connection.execute("SET enable_progress_bar = false")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.connection.interrupt()  # to close waits for a query that its threads still work on
        self.connection.close()

    def hash(self, text: str) -> str:
        return f"cast('0x' || substr(md5({text}), 1, {DIGITS}) AS BIGINT)"

    def keep(self, name: str, sql: str) -> None:
        self._run(f"CREATE OR REPLACE TABLE {name} AS {sql}")

    def put(self, name: str, columns: Columns) -> None:
        file = self.scratch / f"{name}.parquet"
        write_table(columns, file)
        self.keep(name, f"SELECT * FROM read_parquet('{_quoted(file)}')")
        file.unlink()

    def take(self, name: str, files: Sequence[Path]) -> None:
        """Makes a table of the rows of Parquet files, which stay where they are."""
        those = ", ".join(f"'{_quoted(file)}'" for file in files)
        self._run(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM read_parquet([{those}])")

    def drop(self, *names: str) -> None:
        for name in names:
            self._run(f"DROP TABLE IF EXISTS {name}")

    def found(self, sql: str) -> Columns:
        with self._telling():
            found = self.connection.execute(sql).fetchnumpy()
        return {name: np.asarray(column) for name, column in found.items()}

    def blocks(self, sql: str) -> Iterator[Columns]:
        file = self.scratch / "found.parquet"
        self._run(f"COPY ({sql}) TO '{_quoted(file)}' (FORMAT parquet, ROW_GROUP_SIZE {ROWS // 8})")
        yield from blocks_in([file])
        file.unlink()

    def _run(self, sql: str) -> None:
        with self._telling():
            self.connection.execute(sql)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Says of too little room that it is that; Ctrl-C in a query is no other error."""
        try:
            yield
        except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
            reason = str(error).splitlines()[0]
            raise DataError(
                f"{self.scratch.parent}: DuckDB has too little room: {reason}; "
                "give more with --memory, or another folder with --scratch"
            ) from error
        except RuntimeError as error:
            if isinstance(error.__cause__, KeyboardInterrupt):
                raise error.__cause__ from None
            raise


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
