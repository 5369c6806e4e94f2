"""audit: what is wrong with a benchmark."""

from pathlib import Path

from assent.building import auditing
from assent.building.auditing import Finding
from assent.core.benchmark import Benchmark
from assent.verbs.runs import load_benchmark


def audit(benchmark: Benchmark | str | Path) -> list[Finding]:
    """Looks for leaks, collisions and contradictions in a benchmark."""
    return auditing.audit(load_benchmark(benchmark))
