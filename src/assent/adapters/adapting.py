"""A benchmark and anyone's scores of it: what `tune` and `evaluate` take like a run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from assent.adapters import pykeen
from assent.adapters.logits import logits
from assent.core.arrays import Keys
from assent.core.benchmark import Benchmark
from assent.core.scores import Scorer
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError
from assent.files.benchmarks import load

ScoringFunction = Callable[[Keys, Keys], Any]  # anchors, slots -> scores (query, entity)


@runtime_checkable
class Source(Protocol):
    """Scores that are matched with a benchmark by its names or its queries."""

    def on(self, benchmark: Benchmark) -> Scorer: ...


Fit = Callable[[Benchmark], "Source | ScoringFunction"]  # trains on the benchmark's train facts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Adapted:
    """A benchmark, and a model from elsewhere that scores its queries."""

    benchmark: Benchmark
    model: Scorer
    name: str = "adapted"  # what a report calls it
    fit: Fit | None = None  # how to train it again, on all facts; None: it cannot be

    def __repr__(self) -> str:
        return f"Adapted({self.name} on {self.benchmark!r})"

    def fitted_again(self) -> "Adapted":
        """The model trained on all facts that are known, and on nothing held out."""
        assert self.fit is not None
        whole = self.benchmark.whole()
        return adapt(whole, self.fit(whole), name=self.name)


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """Asks a function for the scores of a few queries at a time.

    It takes the ids of anchors (query,) and relations (query,) as the benchmark numbers them;
    relations `num_relations` and above ask for the head. It gives logits (query, entity) as
    numpy, torch or nested lists.
    """

    function: ScoringFunction
    vocabulary: Vocabulary

    @property
    def num_entities(self) -> int:
        return self.vocabulary.num_entities

    def scores(self, anchors: Tensor, relations: Tensor) -> Tensor:  # -> (query, entity)
        asked = anchors.numpy(), relations.numpy()
        # The function gets copies: the ids are still needed to say which query has a wrong score.
        given = self.function(*(ids.copy() for ids in asked))
        return torch.from_numpy(logits(given, *asked, self.vocabulary, "the function"))


def adapt(
    benchmark: Benchmark | str | Path,
    scorer: Source | ScoringFunction | Any = None,
    *,
    name: str | None = None,
    fit: Fit | None = None,
) -> Adapted:
    """Lets a model from elsewhere be tuned, evaluated, reported and asked for new facts.

    `scorer` is what `pykeen.pipeline` gives; or a function `(anchors, relations) -> (query,
    entity)` of logits; or what `assent.adapters.pykeen.of(model, factory)` or
    `assent.adapters.files.of(valid=..., test=...)` give. `name` is what reports call it. `fit`
    trains such a scorer on the train facts of a benchmark, for `complete(..., refit=True)`.
    """
    if scorer is None or not isinstance(benchmark, Benchmark | str | Path):
        raise ConfigError(
            "adapt: a model has no queries; give a benchmark of the graph that it was trained "
            "on, as in assent.adapt(benchmark, result)"
        )
    benchmark = benchmark if isinstance(benchmark, Benchmark) else load(benchmark)
    if hasattr(scorer, "model") and hasattr(scorer, "training"):
        scorer = pykeen.of(scorer.model, scorer.training)
    if isinstance(scorer, Source):
        called = name or str(getattr(scorer, "title", "adapted"))
        return Adapted(benchmark, scorer.on(benchmark), called, fit)
    if hasattr(scorer, "score_t"):
        raise ConfigError(
            "a PyKEEN model needs the factory that knows its names: "
            "assent.adapters.pykeen.of(model, factory)"
        )
    if not callable(scorer):
        found = type(scorer).__name__
        raise ConfigError(f"expected a function (anchors, relations) -> scores; found a {found}")
    called = name or str(getattr(scorer, "__name__", "adapted"))
    return Adapted(benchmark, Function(scorer, benchmark.vocabulary), called, fit)
