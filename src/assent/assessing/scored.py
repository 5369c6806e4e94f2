"""What is assessed: a benchmark, and anything that scores its queries."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from assent.core.benchmark import Benchmark
from assent.core.scores import QueriesDone, ScoreBlock
from assent.errors import ConfigError
from assent.scoring import PairScorer, Scorer, score


def unheard(done: int, total: int) -> None:
    """Tells nobody."""


class Scored(Protocol):
    """A benchmark, and anything that scores its queries: a run, or a model from elsewhere."""

    @property
    def benchmark(self) -> Benchmark: ...

    @property
    def model(self) -> Scorer: ...


def scored(run: Scored, split: str, progress: QueriesDone) -> Iterator[ScoreBlock]:
    """The scores of one half of the benchmark, what is known masked."""
    queries = run.benchmark.queries(split)
    for block in score(run.model, queries, run.benchmark.known(split)):
        yield block
        progress(block.first + len(block.queries), len(queries))


def heard(runs: Sequence[Scored]) -> list[PairScorer]:
    """The models of all these runs, which are of one benchmark."""
    for run in runs:
        if not isinstance(run.model, PairScorer):
            raise ConfigError("a judge needs models that assent trained: it asks for single facts")
        if run.benchmark.digest() != runs[0].benchmark.digest():
            raise ConfigError("a judge cannot hear models of several benchmarks")
    return [run.model for run in runs if isinstance(run.model, PairScorer)]
