"""A benchmark and anyone's scores of it: what `tune` and `evaluate` take like a run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from torch import Tensor

from assent.adapters.functions import Function, ScoringFunction
from assent.core.benchmark import Benchmark
from assent.errors import ConfigError
from assent.files.benchmarks import load


class Scorer(Protocol):
    """What scoring asks for: a logit for every entity."""

    @property
    def num_entities(self) -> int: ...

    def scores(self, anchors: Tensor, relations: Tensor) -> Tensor:  # -> (query, entity)
        ...


@runtime_checkable
class Source(Protocol):
    """Scores that are matched with a benchmark by its names or its queries."""

    def on(self, benchmark: Benchmark) -> Scorer: ...


@dataclass(frozen=True, slots=True, eq=False)
class Adapted:
    """A benchmark, and a model from elsewhere that scores its queries."""

    benchmark: Benchmark
    model: Scorer


def adapt(benchmark: Benchmark | str | Path, scorer: Source | ScoringFunction) -> Adapted:
    """Lets other people's scores be tuned and evaluated.

    `scorer` is a function `(anchors, relations) -> (query, entity)` of logits, or what
    `assent.adapters.pykeen.of(model, factory)` or `assent.adapters.files.of(valid=..., test=...)`
    give.
    """
    benchmark = benchmark if isinstance(benchmark, Benchmark) else load(benchmark)
    if isinstance(scorer, Source):
        return Adapted(benchmark, scorer.on(benchmark))
    if hasattr(scorer, "score_t"):
        raise ConfigError(
            "a PyKEEN model needs the factory that knows its names: "
            "assent.adapters.pykeen.of(model, factory)"
        )
    if not callable(scorer):
        found = type(scorer).__name__
        raise ConfigError(f"expected a function (anchors, relations) -> scores; found a {found}")
    return Adapted(benchmark, Function(scorer, benchmark.vocabulary))
