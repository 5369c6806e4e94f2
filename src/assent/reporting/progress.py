"""Progress of building, scoring and downloading, as people watch it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from assent.datasets import Progress as Download


@contextmanager
def steps(console: Console) -> Iterator[Callable[[str], None]]:
    """Shows the step under way: a spinner on a terminal, else a line a step."""
    if console.is_terminal:
        with console.status("") as status:
            yield lambda step: status.update(f"{step} …")
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
    """The same for what takes minutes: where there is no bar, a line for each tenth."""
    if console.is_terminal:
        with queries(console) as show:
            yield show
        return
    start, told = time.monotonic(), 0

    def tell(done: int, total: int) -> None:
        nonlocal told
        if (tenth := 10 * done // max(total, 1)) > told:
            told, spent = tenth, time.monotonic() - start
            left = f"about {spent / done * (total - done):.0f} s left"
            console.print(
                f"{spent:7.1f} s  {done:,} of {total:,} queries, {left}",
                markup=False,
                highlight=False,
            )

    yield tell
