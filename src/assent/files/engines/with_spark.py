"""Spark: SQL on a cluster, or on this machine alone.

The session is the one that runs already (spark-submit, a notebook), else one on this machine. All
its machines must see the scratch folder: tables are Parquet files there.
"""

import logging
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

import polars as pl

from assent.core.engine import Columns
from assent.core.hashing import DIGITS
from assent.errors import DEBUGGING, ConfigError, DataError
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

    def __exit__(self, kind: object, *_: object) -> None:
        if not self.is_mine:
            return
        try:
            self.session.stop()
        except Exception:
            if kind is None:  # else what ended the work has ended Spark as well
                raise

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
        with _silent():
            new = (
                SparkSession.builder.appName("assent")
                .config("spark.ui.showConsoleProgress", "false")
                .getOrCreate()
            )
    except (PySparkException, OSError) as error:
        raise ConfigError(f"engine = 'spark' cannot start; is Java installed? ({error})") from error
    if DEBUGGING not in os.environ:
        new.sparkContext.setLogLevel("OFF")
    return new, True


@contextmanager
def _silent() -> Iterator[None]:
    """What is started within it says nothing to its end, nor does Spark's own Python.

    Java speaks before any setting of its log holds, and again when it is stopped. --debug shows it.
    """
    if DEBUGGING in os.environ:
        yield
        return
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    sys.stderr.flush()
    mine = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(mine, 2)
        os.close(mine)
        os.close(nowhere)


def _parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"))
