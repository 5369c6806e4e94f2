"""audit: what is wrong with a benchmark."""

from pathlib import Path

from assent.building import auditing, relational_audit
from assent.building.findings import Finding
from assent.building.relational_audit import Asked
from assent.core.benchmark import Benchmark
from assent.files.engines.benchmark_tables import load_benchmark as load_tables
from assent.files.engines.choosing import LARGE, MEMORY, MEMORY_LIMIT, started
from assent.verbs.read import place
from assent.verbs.runs import load_benchmark


def audit(
    benchmark: Benchmark | str | Path,
    *,
    engine: str | None = None,
    memory: int = MEMORY_LIMIT,
    scratch: str | Path | None = None,
) -> list[Finding]:
    """Looks for leaks, collisions and contradictions in a benchmark.

    The `engine` is "memory", or one of those of `build_folder`, which holds the facts in tables;
    without one, "duckdb" for a folder with more than 1 GB of train facts. All find the same.
    """
    if isinstance(benchmark, Benchmark):
        return auditing.audit(benchmark)
    folder = place(benchmark)
    if engine is None:
        train = folder / "train.tsv"
        engine = "duckdb" if train.is_file() and train.stat().st_size > LARGE else MEMORY
    if engine == MEMORY:
        return auditing.audit(load_benchmark(benchmark))
    with started(engine, Path(scratch) if scratch else None, memory) as running:
        return relational_audit.audit(Asked(*load_tables(folder, running)), running)
