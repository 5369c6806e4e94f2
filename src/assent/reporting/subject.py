"""A run as a report shows it: all that was measured of it, and nothing that needs the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.core.benchmark import Benchmark
from assent.core.counts import Counts
from assent.deciding.rules import Decider
from assent.judging.judge import Judge
from assent.measuring.evaluation import Evaluation
from assent.measuring.separation import Separation
from assent.reporting.asked import Asked


@dataclass(frozen=True, eq=False)
class Subject:
    """One of the runs of a report."""

    name: str
    dataset: str  # what the benchmark is called
    benchmark: Benchmark
    settings: Mapping[str, Mapping[str, Any]]  # section -> key -> value
    decider: Decider | Judge
    found: Evaluation
    separation: Separation
    curve: Counts  # of arrays (point,)   as one threshold for all relations falls
    asked: Sequence[Asked]  # the sample queries, the same for all runs of a benchmark
    events: Sequence[Mapping[str, Any]] = field(default=())  # of its trace

    @cached_property
    def plain(self) -> dict[str, Any]:
        """What `assent evaluate --json` prints."""
        return self.found.to_json()

    @property
    def model(self) -> str:
        """`complex 256`, or `4 x complex 256` of a run with members."""
        settings = self.settings["model"]
        members = f"{settings['members']} x " if settings.get("members", 1) > 1 else ""
        size = f" {settings['dim']}" if "dim" in settings else ""
        return f"{members}{settings['name']}{size}"

    @property
    def judged(self) -> bool:
        """Whether a judge decides: its thresholds are then only what it looks at."""
        return isinstance(self.decider, Judge)

    @property
    def line(self) -> float | None:
        """Where it is drawn among the scores as they were counted; None: nothing is accepted."""
        if self.separation.thresholds is not None:
            return 0.0
        lines = lines_in(self.decider, self.benchmark)
        return float(lines[0]) if len(lines) and np.isfinite(lines[0]) else None


def lines_in(decider: Decider | Judge, benchmark: Benchmark) -> NDArray[np.float64]:
    """The different thresholds of the relations that test asks about."""
    return np.unique(decider.thresholds.values[np.unique(benchmark.test.relations)])


def by_benchmark(subjects: Sequence[Subject]) -> list[list[Subject]]:
    """The runs of each benchmark, in the order given."""
    groups: dict[str, list[Subject]] = {}
    for subject in subjects:
        groups.setdefault(subject.benchmark.digest(), []).append(subject)
    return list(groups.values())
