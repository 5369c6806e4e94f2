"""Which engines there are, and which one builds by default."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from assent.errors import ConfigError
from assent.files import atomic
from assent.files.engines.graph_tables import Loading, facts_files

MEMORY = "memory"
LARGE = 1_000_000_000  # bytes of the files of facts, above which a graph is not read into memory
MEMORY_LIMIT = 3_000_000_000  # bytes that DuckDB takes


def _duckdb(scratch: Path, memory: int) -> AbstractContextManager[Loading]:
    from assent.files.engines.with_duckdb import DuckDB

    return DuckDB(scratch, memory)


def _spark(scratch: Path, memory: int) -> AbstractContextManager[Loading]:
    from assent.files.engines.with_spark import Spark

    return Spark(scratch)


OUT_OF_CORE: dict[str, Callable[[Path, int], AbstractContextManager[Loading]]] = {
    "duckdb": _duckdb,
    "spark": _spark,
}
ENGINES = (MEMORY, *OUT_OF_CORE)


@contextmanager
def started(engine: str, scratch: Path | None, memory: int) -> Iterator[Loading]:
    """An engine with a folder for its tables, which is gone when it ends."""
    if engine not in OUT_OF_CORE:
        raise ConfigError(f"unknown engine {engine!r}; choose from {', '.join(ENGINES)}")
    with (
        atomic.scratch(engine, scratch) as folder,
        OUT_OF_CORE[engine](folder, memory) as running,
    ):
        yield running


def engine_for(path: Path) -> str:
    """DuckDB for files of more than LARGE bytes in formats that it can be given in blocks."""
    files = facts_files(path) if path.exists() else {}
    size = sum(file.stat().st_size for file in files.values())
    return "duckdb" if size > LARGE else MEMORY
