"""Spark: SQL on a cluster, or on this machine alone.

The session is the one that runs already (spark-submit, a notebook), else one on this machine. All
its machines must see the scratch folder: tables are Parquet files there.
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import polars as pl

from assent.core.engine import Columns
from assent.core.hashing import DIGITS
from assent.errors import ConfigError, DataError
from assent.files.engines.parquet_tables import blocks_in, write_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Spark:
    """Tables as folders of Parquet files, each under the name of a view."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.session, self.is_mine = _session()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.is_mine:
            self.session.stop()

    def hash(self, text: str) -> str:
        return f"cast(conv(substr(md5({text}), 1, {DIGITS}), 16, 10) AS BIGINT)"

    def keep(self, name: str, sql: str) -> None:
        folder = self._written(sql, name)
        self._named(self.session.read.parquet(f"file://{folder}"), name)

    def put(self, name: str, columns: Columns) -> None:
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        write_table(columns, folder / "part-0.parquet")
        self.take(name, [folder / "part-0.parquet"])

    def take(self, name: str, files: Sequence[Path]) -> None:
        """Makes a table of the rows of Parquet files, which stay where they are."""
        self._named(self.session.read.parquet(*(f"file://{file}" for file in files)), name)

    def drop(self, *names: str) -> None:
        for name in names:
            self.session.catalog.dropTempView(name)
            shutil.rmtree(self.scratch / name, ignore_errors=True)

    def found(self, sql: str) -> Columns:
        folder = self._written(sql, "found")
        frame = pl.read_parquet(_parts(folder))
        return {column.name: column.to_numpy() for column in frame}

    def blocks(self, sql: str) -> Iterator[Columns]:
        yield from blocks_in(_parts(self._written(sql, "blocks")))

    def _written(self, sql: str, name: str) -> Path:
        """What a query finds, in files whose names are in its order."""
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        try:
            self.session.sql(sql).write.parquet(f"file://{folder}")
        except Exception as error:  # Java's errors have no common kind
            reason = str(error).strip().splitlines()[0]
            raise DataError(f"{folder}: Spark failed: {reason[:300]}") from error
        return folder

    def _named(self, frame: "DataFrame", name: str) -> None:
        frame.createOrReplaceTempView(name)


def _session() -> "tuple[SparkSession, bool]":
    """A session of its own, so that views of others stay; whether its Spark was started for it."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise ConfigError(
            "engine = 'spark' needs pyspark: pip install 'assent-kb[spark]'"
        ) from error
    active = SparkSession.getActiveSession()
    if active is not None:
        return active.newSession(), False
    try:
        new = (
            SparkSession.builder.appName("assent build")
            .config("spark.ui.showConsoleProgress", "false")
            .getOrCreate()
        )
    except (PySparkException, OSError) as error:
        raise ConfigError(f"engine = 'spark' cannot start; is Java installed? ({error})") from error
    new.sparkContext.setLogLevel("ERROR")
    return new, True


def _parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"))
