"""What the benchmarks share: interleaved timing, peak memory, where the data are."""

import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROUNDS = 7


def data_folder() -> Path:
    """$ASSENT_DATA, else shared/data beside the project."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("ASSENT_DATA", root.parent / "shared" / "data"))
    if not folder.is_dir():
        sys.exit(f"{folder}: no such folder; set ASSENT_DATA to one with fb15k-237 in it")
    return folder


def medians(jobs: Mapping[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """The median seconds of each job, their runs taking turns: noise hits all of them alike."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def peak_memory() -> float:
    """The most memory this process ever held, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
