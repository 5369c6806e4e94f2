"""The whole of it: train what is not trained, measure what is not measured, report."""

import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

from assent.experiment import train
from assent.files.benchmarks import load
from assent.reproducing.measures import measured
from assent.reproducing.planning import Task, epoch_seconds, plan, total_line
from assent.reproducing.report import write_report
from assent.reproducing.results import origin, results_there, write_result
from assent.reproducing.samples import readable
from assent.reproducing.specs import PAPER, Spec
from assent.training.loop import Watcher

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

    @property
    def preset(self) -> str:
        return self.specs[0].preset


def reproduce(order: Order, say: Say, watching: Watching) -> Path:
    """Leaves what is done as it is; writes the report anew after every model.

    The report is of all models that were ever measured here, not only of those ordered now.
    """
    benchmark = load(order.benchmark)
    digest = benchmark.digest()
    names = readable(benchmark.vocabulary, order.benchmark.parent)
    tasks = plan(order.specs, order.out, digest, order.budget)
    for task in tasks:
        say(task.line())
    say(total_line(tasks, order.budget))
    for task in tasks:
        if not task.is_done:
            say(f"{task.spec.name}: {'measuring' if task.is_trained else 'training'}")
            _do(task, order, digest, watching)
            report(order, digest, names)
            say(total_line(plan(order.specs, order.out, digest, order.budget), order.budget))
    return report(order, digest, names)


def report(order: Order, digest: str, names: Mapping[str, str]) -> Path:
    there = results_there(order.out, order.preset, digest)
    ordered = {name: there[name] for name in (*PAPER, *there) if name in there}
    return write_report(order.out, ordered, names, order.command)


def _do(task: Task, order: Order, digest: str, watching: Watching) -> None:
    """Trains and measures a model."""
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
        **measured(run),
        "measuring_minutes": (time.monotonic() - start) / 60,
    }
    write_result(task.result_file, values)
