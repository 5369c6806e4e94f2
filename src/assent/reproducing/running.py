"""The whole of it: what is done, what is left; train it, measure it, and write the report."""

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from assent.core.benchmark import Benchmark
from assent.errors import DataError
from assent.files.benchmarks import load
from assent.files.runs import TRACE
from assent.measuring.ranking import highest_mrr
from assent.reproducing.measuring import measured, ranking_queries, readable
from assent.reproducing.models import Spec
from assent.reproducing.paper import MODELS
from assent.reproducing.report import About, write_report
from assent.reproducing.results import (
    Result,
    is_of,
    origin,
    read_result,
    result_file,
    results_there,
    run_folder,
    write_result,
)  # fmt: skip
from assent.training.loop import Watcher
from assent.training.trace import read_events, read_trained
from assent.verbs.train import train

Say = Callable[[str], None]
Watching = Callable[[], AbstractContextManager[Watcher]]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be reproduced, and where."""

    benchmark: Path
    out: Path
    specs: list[Spec]
    budget: float = math.inf  # minutes of training for each model
    command: str = ""  # for the report
    on: Path | None = None  # another benchmark of the same train facts, to measure on

    @property
    def folder(self) -> Path:
        """Where results and report go; runs serve all benchmarks."""
        folder = self.out if self.preset == "default" else self.out / f"preset-{self.preset}"
        return folder / f"on-{self.on.name}" if self.on else folder

    @property
    def preset(self) -> str:
        return self.specs[0].preset


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A model of the plan, and how far it has come."""

    spec: Spec
    run_folder: Path
    result_file: Path
    result: Result | None  # that is still true
    is_trained: bool  # to its end, or as long as the budget allows
    epochs_done: int
    minutes: float | None  # that are left for training; None: no epoch was seen yet

    @property
    def is_done(self) -> bool:
        return self.is_trained and self.result is not None

    def line(self) -> str:
        return f"{self.spec.name:<18} {self._state()}"

    def _state(self) -> str:
        if self.is_done:
            return "done"
        if self.is_trained:
            return "trained, to be measured"
        epochs = self.spec.settings.train.epochs
        started = (
            f"epoch {self.epochs_done} of {epochs} is done" if self.epochs_done else "to train"
        )
        return f"{started}, {_at_most(self.minutes)}"


def plan(
    specs: list[Spec], runs: Path, results: Path, benchmark: str, budget: float = math.inf
) -> list[Task]:
    """The state of every model; `benchmark` is a checksum, `budget` minutes for each model."""
    return [_task(spec, runs, results, benchmark, budget) for spec in specs]


def total_line(tasks: list[Task], budget: float = math.inf) -> str:
    """How much is left of all."""
    done = sum(task.is_done for task in tasks)
    waiting = [task for task in tasks if not task.is_trained]
    left = [task.minutes if task.minutes is not None else budget for task in waiting]
    known = [minutes for minutes in left if math.isfinite(minutes)]
    line = f"{done} of {len(tasks)} models done"
    if waiting and known:
        line += f"; training: {_minutes(sum(known))} more at most"
    if unknown := len(left) - len(known):
        line += f"; no epoch yet of {unknown}"
    return line


def _task(spec: Spec, runs: Path, results: Path, benchmark: str, budget: float) -> Task:
    folder = run_folder(runs, spec.preset, spec.name)
    file = result_file(results, spec.preset, spec.name)
    settings = spec.settings.sections()
    result = read_result(file, spec.name)
    current = is_of(result, origin(folder, settings, benchmark))
    seconds = epoch_seconds(folder)
    left = (spec.settings.train.epochs - len(seconds)) * float(np.median(seconds or [0])) / 60
    allowed = max(budget - sum(seconds) / 60, 0.0)
    return Task(
        spec,
        folder,
        file,
        result if current else None,
        _is_trained(folder, budget),
        len(seconds),
        min(left, allowed) if seconds else None,
    )


def _is_trained(folder: Path, budget: float) -> bool:
    try:
        cut_after = read_trained(folder / TRACE).cut_after
    except DataError:
        return False
    return cut_after is None or cut_after >= budget


def epoch_seconds(folder: Path) -> list[float]:
    """The time of each epoch that a run has done."""
    try:
        events = read_events(folder / TRACE)
    except DataError:
        return []
    return [float(event["seconds"]) for event in events if event["event"] == "epoch"]


def _at_most(minutes: float | None) -> str:
    return "no epoch yet to tell how long" if minutes is None else f"{_minutes(minutes)} at most"


def _minutes(minutes: float) -> str:
    return f"{60 * minutes:.0f} s" if minutes < 1.5 else f"{minutes:.0f} min"


def reproduce(order: Order, say: Say, watching: Watching) -> Path:
    """Leaves what is done as it is; writes the report anew after every model.

    The report is of all models that were ever measured here, not only of those ordered now.
    """
    benchmark = load(order.on or order.benchmark)
    names = readable(benchmark.vocabulary, order.benchmark.parent)
    on = order.on.name if order.on else None
    about = About(names, highest_mrr(ranking_queries(benchmark, "test")), on)
    digest = benchmark.digest()
    places = (order.out, order.folder, digest, order.budget)
    tasks = plan(order.specs, *places)
    for task in tasks:
        say(task.line())
    say(total_line(tasks, order.budget))
    for task in tasks:
        if not task.is_done:
            say(f"{task.spec.name}: {'measuring' if task.is_trained else 'training'}")
            _do(task, order, benchmark, digest, watching)
            _report(order, digest, about)
            say(total_line(plan(order.specs, *places), order.budget))
    return _report(order, digest, about)


def _report(order: Order, digest: str, about: About) -> Path:
    results = results_there(order.out, order.folder, order.preset, digest, tuple(MODELS))
    return write_report(order.folder, results, about, order.command)


def _do(task: Task, order: Order, on: Benchmark, digest: str, watching: Watching) -> None:
    """Trains a model, and measures it."""
    spec, settings = task.spec, task.spec.settings
    with watching() as watcher:
        run = train(
            order.benchmark,
            spec.model,
            out=task.run_folder,
            preset=spec.preset,
            changes=spec.changes,
            watcher=watcher,
            minutes=order.budget,
        )
    start = time.monotonic()
    minutes = run.trained.cut_after or sum(epoch_seconds(task.run_folder)) / 60
    values = {
        **origin(task.run_folder, settings.sections(), digest),
        "name": spec.name,
        "preset": spec.preset,
        "trained": {**asdict(run.trained), "scores": list(run.trained.scores), "minutes": minutes},
        **measured(run.on(on)),
        "measuring_minutes": (time.monotonic() - start) / 60,
    }
    write_result(task.result_file, values)
