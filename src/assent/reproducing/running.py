"""The whole of it: train what is not trained, measure what is not measured, report."""

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

from assent.core.benchmark import Benchmark
from assent.files.benchmarks import load
from assent.measuring.ranking import highest_mrr
from assent.reproducing.measures import measured, ranking_queries
from assent.reproducing.planning import Task, epoch_seconds, plan, total_line
from assent.reproducing.report import About, write_report
from assent.reproducing.results import origin, results_there, write_result
from assent.reproducing.samples import readable
from assent.reproducing.specs import PAPER, Spec
from assent.training.loop import Watcher
from assent.verbs.train import train

Say = Callable[[str], None]
Watching = Callable[[int], AbstractContextManager[Watcher]]  # told the number of epochs


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
            report(order, digest, about)
            say(total_line(plan(order.specs, *places), order.budget))
    return report(order, digest, about)


def report(order: Order, digest: str, about: About) -> Path:
    there = results_there(order.out, order.folder, order.preset, digest)
    ordered = {name: there[name] for name in (*PAPER, *there) if name in there}
    return write_report(order.folder, ordered, about, order.command)


def _do(task: Task, order: Order, on: Benchmark, digest: str, watching: Watching) -> None:
    """Trains a model, and measures it."""
    spec, settings = task.spec, task.spec.settings
    with watching(settings.train.epochs) as watcher:
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
