"""The whole path of a fact, from file to decision: the only place that knows the order."""

import math
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
import torch

from assent.assessing import (
    EVALUATIONS,
    Scored,
    heard,
    load_decider,
    promising,
    unheard,
)
from assent.completing.completion import Completion, collected
from assent.completing.lines import Lines
from assent.completing.running import Completing, Stopping, Wanted
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.queries import Queries, both_ways
from assent.core.scores import QueriesDone
from assent.datasets import fetch, located
from assent.deciding.rules import Decider
from assent.errors import ConfigError, DataError
from assent.files.benchmarks import load
from assent.files.runs import SETTINGS, read_weights, save_weights, start_run, training_in
from assent.files.triples import read
from assent.judging.hearing import Hearing
from assent.judging.judge import Judge
from assent.models import Model, create
from assent.reporting.watching import Unwatched
from assent.settings import Settings, of_sections, read_toml, resolve, to_toml
from assent.training.loop import Watcher
from assent.training.loop import train as train_model
from assent.training.trace import Trained, read_trained


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A trained model, what it was trained on, and how."""

    benchmark: Benchmark
    settings: Settings
    model: Model
    trained: Trained
    folder: Path | None = None

    def on(self, benchmark: Benchmark) -> Self:
        """The same run, to be measured on other queries about the facts that it learned from."""
        mine = self.benchmark
        same_names = (mine.vocabulary.entities, mine.vocabulary.relations) == (
            benchmark.vocabulary.entities,
            benchmark.vocabulary.relations,
        )
        if not same_names or not np.array_equal(mine.train, benchmark.train):
            raise DataError("a benchmark of other train facts than the run learned from")
        return replace(self, benchmark=benchmark)


def dataset(name: str) -> KnowledgeBase:
    """A named graph: built in, or fetched if it is not here yet."""
    return read(located(name) or fetch(name))


def train(
    benchmark: Benchmark | str | Path,
    model: str = "complex",
    *,
    out: str | Path | None = None,
    preset: str = "default",
    file: Path | None = None,
    changes: Iterable[str] = (),
    watcher: Watcher | None = None,
    minutes: float = math.inf,
) -> Run:
    """Trains a model on a benchmark; with `out`, in a folder, resumed where it was stopped.

    Settings come from the preset, then from a TOML `file`, then from `changes` such as
    "train.epochs=10". `minutes` is the most that its steps may take; a folder that had fewer
    goes on with more.
    """
    where = None if isinstance(benchmark, Benchmark) else str(Path(benchmark).resolve())
    benchmark = benchmark if isinstance(benchmark, Benchmark) else load(benchmark)
    settings = resolve(model, preset, file, changes)
    folder = Path(out) if out is not None else None
    if folder is not None:
        origin = {"path": where or "", "sha256": benchmark.digest()}
        text = to_toml({**settings.sections(), "benchmark": origin})
        start_run(folder, text, benchmark.vocabulary, _settings_there(folder))
    torch.manual_seed(settings.train.seed)
    network = create(
        model, benchmark.vocabulary.num_entities, benchmark.vocabulary.num_relations, settings.model
    )
    facts = both_ways(benchmark.train, benchmark.vocabulary.num_relations)
    with nullcontext() if folder is None else training_in(folder):
        trained = train_model(
            network,
            Queries.grouped(*facts),
            settings.train,
            EVALUATIONS[settings.train.stop_on](benchmark),
            watcher or Unwatched(),
            folder,
            minutes,
        )
        if folder is not None:
            save_weights(folder, network.state_dict())
    return Run(benchmark, settings, network, trained, folder)


def _settings_there(folder: Path) -> str | None:
    """Those of a run that was begun here; what did not exist then has its default."""
    if not (path := folder / SETTINGS).exists():
        return None
    sections = read_toml(path)
    origin = sections.pop("benchmark", {})
    return to_toml({**of_sections(sections).sections(), "benchmark": origin})


def load_run(folder: str | Path, on: str | Path | None = None) -> Run:
    """A trained run, with the benchmark that it was trained on.

    Or with another `on` which it is to be measured, if that has the same train facts.
    """
    folder = Path(folder)
    sections = read_toml(folder / SETTINGS)
    origin = sections.pop("benchmark", {})
    settings = of_sections(sections)
    benchmark = load(origin.get("path", ""))
    if benchmark.digest() != origin.get("sha256"):
        raise DataError(f"{origin.get('path')}: not the benchmark that {folder} was trained on")
    names = benchmark.vocabulary
    model = create(settings.name, names.num_entities, names.num_relations, settings.model)
    model.load_state_dict(read_weights(folder))
    run = Run(benchmark, settings, model.eval(), read_trained(folder / "trace.jsonl"), folder)
    return run if on is None else run.on(load(on))


def complete(
    run: Scored,
    precision: float | None = None,
    *,
    confidence: float = 0.95,
    decider: Decider | Judge | None = None,
    review_above: float | None = None,
    relations: Sequence[str] | None = None,
    anchors: Sequence[str] | None = None,
    max_facts: int | None = None,
    functional: bool = True,
    symmetric: bool = True,
    progress: QueriesDone = unheard,
    stopping: Stopping = lambda: False,
) -> Completion:
    """New facts: all that the graph may ask for, decided.

    With `precision`, thresholds are found on valid that promise it with this confidence; else
    the decider or judge given decides, or what `assent tune` put into the run's folder. What is not
    accepted but as probable as `review_above` comes too, as facts to review.
    """
    if precision is not None and decider is not None:
        raise ConfigError("give a precision or a decider, not both")
    decider = decider or _decider_for(run, precision, confidence)
    lines = Lines.of(decider, run.benchmark.vocabulary, review_above)
    wanted = Wanted(relations, anchors, max_facts, functional, symmetric)
    hearing = None
    if isinstance(decider, Judge):
        hearing = Hearing(decider, run.benchmark, heard([run, *others_heard(decider)]))
    work = Completing(run.benchmark, run.model, lines, wanted, hearing)
    promises = "promise" in decider.found
    return collected(work, run.benchmark.vocabulary, promises, progress, stopping)


def _decider_for(run: Scored, precision: float | None, confidence: float) -> Decider | Judge:
    if precision is not None:
        return promising(run, precision, confidence)
    if (folder := getattr(run, "folder", None)) is None:
        raise ConfigError("a run without a folder has no decider; give a precision")
    return load_decider(folder, run.benchmark)


def others_heard(decider: Decider | Judge, on: str | Path | None = None) -> list[Run]:
    """The runs that a judge was trained with, but for its own."""
    return [load_run(source.path, on) for source in getattr(decider, "sources", ())[1:]]
