"""Progress of a search: its trainings, how far the one under way is, and how many fit in the time.

Besides the events of each training, it hears of `search` (with the minutes that there are) and of
`training` (with a `Trial`) where one begins, is taken up or ended.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from assent.reporting.grid import counted, setting_name, setting_value
from assent.reporting.progress import Lines, in_time
from assent.training.journal import UNDER_WAY, Trial
from assent.training.loop import Watcher

PAUSE = 20.0  # seconds between two lines about one training, at least
SURE = 5.0  # seconds of a training by which the time of all of it is estimated
ROOM = 0.8  # share of the time that is left, for which fewer epochs are advised


class Trainings(Lines):
    """A line now and then, for logs and pipes."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.ends = math.inf
        self.has_estimated = False
        self.name, self.best, self.last = "", "", time.monotonic()

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None:
        super().step(epoch, step, steps, loss, queries)
        left = (self.epochs - epoch - step / steps) * self.pace()
        self.tell(f"epoch {epoch + 1} of {self.epochs}{self.best}, at most {in_time(left)} left")

    def event(self, **values: Any) -> None:
        event = values["event"]
        if event == "search":
            self.ends = time.monotonic() + 60 * values["minutes"]
        elif event == "training":
            self.training(values["trial"])
        elif event in ("start", "resume"):
            self.begin(values["epochs"])
        elif event == "evaluation" and values["best"]:
            self.best = f", {values['score']:.4f} on valid so far"
        elif event == "mining":
            self.tell(values["message"])
        elif event == "damaged":
            self.say(values["message"])
        elif event == "epoch":
            self.estimate(self.epochs - values["epoch"])

    def training(self, trial: Trial) -> None:
        """A training begins, is taken up or ended."""
        self.name, self.last = f"training {trial.number}", time.monotonic()
        self.best = "" if math.isnan(trial.score) else f", {trial.score:.4f} on valid so far"
        self.say(_of_training(trial))

    def estimate(self, left: int) -> None:
        """What the time comes to, once it can be told; so many epochs of this training are left."""
        now = time.monotonic()
        if left and not self.has_estimated and now - self.start >= SURE:
            self.has_estimated = True
            self.say(in_all(self.epochs, left, self.pace(), self.ends - now))

    def tell(self, how_far: str) -> None:
        """How far the training is, if nothing was said of it for a while."""
        if (now := time.monotonic()) - self.last >= PAUSE:
            self.last = now
            self.say(f"{self.name}: {how_far}")

    def say(self, line: str) -> None:
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def pace(self) -> float:
        """Seconds an epoch takes, evaluations included."""
        return (time.monotonic() - self.start) / max(self.done, 1e-9)


class TrainingsBar(Trainings):
    """A bar for the training under way, and below lines above it."""

    def __init__(self, console: Console, bar: Progress) -> None:
        super().__init__(console)
        self.bar = bar
        self.task: TaskID = bar.add_task("", total=None, how_far="", visible=False)

    def begin(self, epochs: int) -> None:
        super().begin(epochs)
        self.first: float | None = None  # epochs that were done before a resume

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None:
        place = epoch + step / steps
        if self.first is None:  # what was done before a resume took no time now
            self.first = place - 1 / steps
            self.bar.reset(self.task, total=self.epochs)
            self.bar.update(self.task, completed=self.first)
        super().step(epoch, step, steps, loss, queries)
        self.bar.update(self.task, completed=place)

    def training(self, trial: Trial) -> None:
        super().training(trial)
        self.bar.reset(self.task, description=self.name, how_far="")
        self.bar.update(self.task, visible=trial.state == UNDER_WAY)

    def tell(self, how_far: str) -> None:
        self.bar.update(self.task, how_far=how_far)


@contextmanager
def trainings(console: Console) -> Iterator[Watcher]:
    """A line for each training that begins, is taken up or ended; a bar or lines for how far it is.

    The bar is for a terminal.
    """
    if not console.is_terminal:
        yield Trainings(console)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[how_far]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield TrainingsBar(console, bar)


def in_all(epochs: int, left: int, pace: float, seconds: float) -> str:
    """About how long one training takes, and how many come to their end in so many seconds.

    Of the `epochs` of the one under way, some are `left`; each takes `pace` seconds.
    """
    whole = epochs * pace
    takes = f"a training takes about {in_time(whole)} ({counted(epochs, 'epoch')})"
    if seconds < left * pace:
        minutes = math.ceil(left * pace / ROOM / 60)
        return (
            f"{takes}, and the search has {in_time(seconds)} left: none will come to its end; "
            f"give it --minutes {minutes} or more, or fewer epochs in another folder "
            f"(--set train.epochs={max(int(ROOM * seconds / pace), 1)})"
        )
    fit = 1 + int((seconds - left * pace) / whole)
    return (
        f"{takes}, and the search has {in_time(seconds)} left: about {fit:,} can come to "
        f"{'its' if fit == 1 else 'their'} end, besides those that end early"
    )


def _of_training(trial: Trial) -> str:
    if trial.state != UNDER_WAY:
        return f"training {trial.number}: {trial.score:.4f}, {trial.state}"
    if trial.epochs:
        return f"training {trial.number} goes on at epoch {trial.epochs + 1}"
    made_of = (f"{setting_name(key)} {setting_value(x)}" for key, x in trial.settings.items())
    return f"training {trial.number} begins: {', '.join(made_of)}"
