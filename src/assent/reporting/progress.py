"""Progress of building, scoring, downloading and training, as people watch it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)  # fmt: skip
from rich.text import Text

from assent.core.legible import legible
from assent.datasets import Progress as Download
from assent.reporting.grid import counted
from assent.training.loop import Watcher

PAUSE = 2.0  # seconds between two lines about queries, at least


@contextmanager
def steps(console: Console) -> Iterator[Callable[[str], None]]:
    """Shows the step under way: a spinner on a terminal, else a line a step."""
    if console.is_terminal:
        with console.status("") as status:
            yield lambda step: status.update(Text(legible(f"{step} …")))
        return
    start = time.monotonic()
    yield lambda step: console.print(
        f"{time.monotonic() - start:7.1f} s  {step}", markup=False, highlight=False
    )


@contextmanager
def downloads(console: Console) -> Iterator[Download]:
    """Shows bytes coming in: a bar a file on a terminal, else nothing until it is there."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal
    ) as bar:
        tasks = {}

        def show(name: str, done: int, total: int | None, /) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done, total=total)

        yield show


@contextmanager
def queries(console: Console) -> Iterator[Callable[[int, int], None]]:
    """Shows queries being scored: a bar on a terminal, else nothing, as it takes seconds."""
    columns = (TextColumn("scoring"), BarColumn(), TextColumn("{task.completed:,} queries"))
    with Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("scoring", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def minutes_of_queries(console: Console) -> Iterator[Callable[[int, int], None]]:
    """Shows queries that may take minutes: a bar on a terminal, else a line for each tenth."""
    if console.is_terminal:
        with queries(console) as show:
            yield show
        return
    start, told = time.monotonic(), 0
    last = start  # when a line was printed

    def tell(done: int, total: int) -> None:
        nonlocal told, last
        now = time.monotonic()
        if (tenth := 10 * done // max(total, 1)) > told and now - last >= PAUSE:
            told, last, spent = tenth, now, now - start
            left = f"about {spent / done * (total - done):.0f} s left"
            console.print(
                f"{spent:7.1f} s  {done:,} of {total:,} queries, {left}",
                markup=False,
                highlight=False,
            )

    yield tell


class Unwatched:
    """Shows nothing."""

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None: ...

    def event(self, **values: Any) -> None: ...


class Together:
    """Tells several watchers."""

    def __init__(self, *watchers: Watcher) -> None:
        self.watchers = watchers

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None:
        for watcher in self.watchers:
            watcher.step(epoch, step, steps, loss, queries)

    def event(self, **values: Any) -> None:
        for watcher in self.watchers:
            watcher.event(**values)


class Lines:
    """A line an event, for logs and pipes."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.epochs = 0  # in all; told when training starts
        self.start = time.monotonic()
        self.done = 0.0  # epochs since the start

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None:
        self.done += 1 / steps

    def event(self, **values: Any) -> None:
        if values["event"] in ("start", "resume"):
            self.begin(values["epochs"])
        self.console.print(self.in_words(values), markup=False, highlight=False, soft_wrap=True)

    def begin(self, epochs: int) -> None:
        """A training starts or goes on: what came before it, reading too, is no part of it."""
        self.epochs, self.start, self.done = epochs, time.monotonic(), 0.0

    def in_words(self, values: dict[str, Any]) -> str:
        event = values["event"]
        if event == "epoch":
            left = self._seconds_an_epoch(values["seconds"]) * (self.epochs - values["epoch"])
            return (
                f"epoch {values['epoch']:>3} of {self.epochs}  loss {values['loss']:.4f}  "
                f"{values['queries_per_second']:,} queries/s  at most {in_time(left)} left"
            )
        if event == "evaluation":
            best = ", the best so far" if values["best"] else ""
            return f"  on valid after epoch {values['epoch']}: {values['score']:.4f}{best}"
        if event == "start":
            queries, steps = counted(values["queries"], "query"), counted(values["steps"], "step")
            return f"{queries}, {steps} an epoch"
        if event == "resume":
            return f"going on in epoch {values['epoch'] + 1} after step {values['step']}"
        if event == "changed":
            changes = (f"{k} {v['was']} to {v['is']}" for k, v in values["settings"].items())
            return f"changed: {', '.join(changes)}; the last bits may differ from before"
        if event == "cut":
            return f"time is up after {values['minutes']:.1f} min, in epoch {values['epoch'] + 1}"
        if event == "end":
            return (
                f"done after {counted(values['epochs'], 'epoch')}; "
                f"the best was epoch {values['best_epoch']}"
                f"{time_spent(values)}"
            )
        return str(values.get("message", event))

    def _seconds_an_epoch(self, steps: float) -> float:
        """With all that belongs to it; of a first one that was resumed, its steps alone."""
        return (time.monotonic() - self.start) / self.done if self.done > 0.999 else steps


class Bar(Lines):
    """A bar for the epoch under way, and the same lines above it."""

    def __init__(self, console: Console, bar: Progress) -> None:
        super().__init__(console)
        self.bar = bar
        self.task: TaskID = bar.add_task("training", total=None, loss=0.0, speed=0.0)
        self.begin(0)

    def begin(self, epochs: int) -> None:
        super().begin(epochs)
        self.first: int | None = None  # steps that were done before a resume
        self.epoch_start, self.epoch_first = time.monotonic(), -1

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None:
        super().step(epoch, step, steps, loss, queries)
        place = epoch * steps + step
        if self.first is None:  # what was done before a resume took no time now
            self.first = place - 1
            self.bar.reset(self.task, total=self.epochs * steps, completed=self.first)
        if step == 1 or self.epoch_first < 0:
            self.epoch_start, self.epoch_first = time.monotonic(), step
        spent = max(time.monotonic() - self.epoch_start, 1e-9)
        self.bar.update(
            self.task,
            completed=place,
            description=f"epoch {epoch + 1}",
            loss=loss,
            speed=(step - self.epoch_first) * queries / spent,
        )


@contextmanager
def watching(console: Console) -> Iterator[Watcher]:
    """A bar on a terminal, else lines."""
    if not console.is_terminal:
        yield Lines(console)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("loss {task.fields[loss]:.3f}  {task.fields[speed]:,.0f} queries/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield Bar(console, bar)


def time_spent(end: dict[str, Any]) -> str:
    """Where the time of a training went, by its last event; nothing for one that does not say."""
    parts = sorted(end.get("seconds", {}).items(), key=lambda part: -part[1])
    total = sum(seconds for _, seconds in parts)
    if not total:
        return ""
    shares = ", ".join(f"{part} {seconds / total:.0%}" for part, seconds in parts)
    processor = in_time(end["processor_seconds"])
    return f"\n{in_time(total)} ({processor} of processor time): {shares}"


def in_time(seconds: float) -> str:
    """`80 s`, `3 min`."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
