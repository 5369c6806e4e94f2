"""The whole path of a fact, from file to decision: the only place that knows the order."""

import math
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
import torch

from assent.assessing import EVALUATIONS
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.queries import Queries, both_ways
from assent.datasets import fetch, located
from assent.deciding.rules import Decider
from assent.errors import DataError
from assent.files.benchmarks import load
from assent.files.runs import SETTINGS, read_weights, save_weights, start_run, training_in
from assent.files.triples import read
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


def others_heard(decider: Decider | Judge, on: str | Path | None = None) -> list[Run]:
    """The runs that a judge was trained with, but for its own."""
    return [load_run(source.path, on) for source in getattr(decider, "sources", ())[1:]]
