"""What is done, what is left, and how long that will take by the epochs seen so far."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assent.errors import DataError
from assent.reproducing.results import Result, is_of, origin, read_result, result_file, run_folder
from assent.reproducing.specs import Spec
from assent.training.trace import read_events, read_trained


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
        cut_after = read_trained(folder / "trace.jsonl").cut_after
    except DataError:
        return False
    return cut_after is None or cut_after >= budget


def epoch_seconds(folder: Path) -> list[float]:
    """The time of each epoch that a run has done."""
    try:
        events = read_events(folder / "trace.jsonl")
    except DataError:
        return []
    return [float(event["seconds"]) for event in events if event["event"] == "epoch"]


def _at_most(minutes: float | None) -> str:
    return "no epoch yet to tell how long" if minutes is None else f"{_minutes(minutes)} at most"


def _minutes(minutes: float) -> str:
    return f"{60 * minutes:.0f} s" if minutes < 1.5 else f"{minutes:.0f} min"
