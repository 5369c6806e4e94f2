"""audit: what is wrong with a benchmark."""

from pathlib import Path

from assent.building import auditing, relational_audit
from assent.building.findings import Finding
from assent.building.recipe import Progress
from assent.building.relational_audit import Asked
from assent.core.benchmark import Benchmark
from assent.files.engines.benchmark_tables import load_benchmark as load_tables
from assent.files.engines.choosing import LARGE, MEMORY, MEMORY_LIMIT, started
from assent.files.own_layout import TRAIN
from assent.reporting.progress import steps
from assent.reporting.showing import shown
from assent.verbs.read import place
from assent.verbs.runs import load_benchmark


def audit(
    benchmark: Benchmark | str | Path,
    *,
    engine: str | None = None,
    memory: int = MEMORY_LIMIT,
    scratch: str | Path | None = None,
    progress: Progress | bool = False,
) -> list[Finding]:
    """Looks for leaks, collisions and contradictions in a benchmark.

    The `engine` is "memory", or one of those of `build_folder`, which holds the facts in tables;
    without one, "duckdb" for a folder with more than 1 GB of train facts. All find the same.
    """
    if isinstance(benchmark, Benchmark):
        return auditing.audit(benchmark)
    engine = engine_of(benchmark, engine)
    if engine == MEMORY:
        return auditing.audit(load_benchmark(benchmark))
    with (
        shown(progress, steps) as told,
        started(engine, Path(scratch) if scratch else None, memory, told) as running,
    ):
        told("reading")
        asked = Asked(*load_tables(place(benchmark), running))
        told("looking for leaks and contradictions")
        return relational_audit.audit(asked, running)


def engine_of(benchmark: str | Path, engine: str | None) -> str:
    """The engine that looks: the one named, else by how large the train facts are."""
    if engine is not None:
        return engine
    train = place(benchmark) / TRAIN
    return "duckdb" if train.is_file() and train.stat().st_size > LARGE else MEMORY
