"""Which engines there are, and which one builds by default."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from assent.errors import AssentError, ConfigError, DataError
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
USERS = {"memory": ("duckdb",), "scratch": ("duckdb", "spark")}  # engines that hear an option


# What is said of each before it is there.
STARTING = {
    "duckdb": "DuckDB",
    "spark": "Spark, which is for clusters and takes minutes for a small graph",
}


def _nobody(step: str) -> None:
    """Hears what is done, and tells nobody."""


@contextmanager
def started(
    engine: str, scratch: Path | None, memory: int, progress: Callable[[str], None] = _nobody
) -> Iterator[Loading]:
    """An engine with a folder for its tables, which is gone when it ends."""
    if engine not in OUT_OF_CORE:
        raise ConfigError(f"unknown engine {engine!r}; choose from {', '.join(ENGINES)}")
    progress(f"starting {STARTING[engine]}")
    with (
        atomic.scratch(engine, scratch) as folder,
        _saying_full(folder.parent),
        OUT_OF_CORE[engine](folder, memory) as running,
    ):
        yield running


@contextmanager
def _saying_full(place: Path) -> Iterator[None]:
    """Turns what an engine raises about a full disk into one line that says where to make room."""
    try:
        yield
    except AssentError:
        raise
    except Exception as error:
        if not (full := atomic.what_is_full(error)):
            raise
        raise DataError(
            f"{place}: no room for tables: {full}; make room there, or choose another folder with "
            "--scratch"
        ) from error


def refuse_unheard(engine: str, given: Mapping[str, object]) -> None:
    """Raises an error for an option, by its name, that has a value and no use for the engine."""
    for option, value in given.items():
        if value is not None and engine in ENGINES and engine not in USERS[option]:
            engines = " or ".join(f"--engine {name}" for name in USERS[option])
            raise ConfigError(f"--{option}: is for {engines}; leave it out for {engine}")


def engine_for(path: Path) -> str:
    """DuckDB for files of more than LARGE bytes in formats that it can be given in blocks."""
    files = facts_files(path) if path.exists() else {}
    size = sum(file.stat().st_size for file in files.values())
    return "duckdb" if size > LARGE else MEMORY
