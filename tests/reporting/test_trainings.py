"""What people are told while settings are searched."""

import io
import math
from itertools import pairwise

import pytest
from rich.console import Console
from rich.progress import Progress

from assent.reporting import progress, trainings
from assent.reporting.trainings import Trainings, TrainingsBar, in_all
from assent.training.journal import DONE, UNDER_WAY, Trial

MADE_OF = {"train.learning_rate": 0.003, "model.normalize": True}


class Clock:
    now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    for module in (progress, trainings):
        monkeypatch.setattr(module, "time", made)
    return made


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=400)


def told(shown, clock, *, epochs, seconds, minutes, start=0):
    """A training of two steps an epoch, that is evaluated after each fifth."""
    shown.event(event="search", minutes=minutes)
    shown.event(event="training", trial=Trial(4, math.nan, start, UNDER_WAY, MADE_OF))
    if start:
        shown.event(event="resume", epoch=start, step=0, epochs=epochs)
    else:
        shown.event(event="start", queries=8, steps=2, epochs=epochs)
    for epoch in range(start, epochs):
        for step in (1, 2):
            clock.now += seconds / 2
            shown.step(epoch, step, 2, 0.5, 4)
        shown.event(event="epoch", epoch=epoch + 1)
        if (epoch + 1) % 5 == 0:
            shown.event(event="evaluation", epoch=epoch + 1, score=epoch / 100, best=True)
    shown.event(event="training", trial=Trial(4, 0.29, epochs, DONE, MADE_OF))


def test_without_a_terminal_a_line_says_now_and_then_how_far_a_training_is(clock, console):
    told(Trainings(console), clock, epochs=30, seconds=3, minutes=10)
    begins, estimate, *lines, ends = console.file.getvalue().splitlines()
    assert begins == "training 4 begins: learning rate 0.003, normalize true"
    assert estimate == (
        "a training takes about 90 s (30 epochs), and the search has 10 min left: "
        "about 6 can come to their end, besides those that end early"
    )
    assert lines == [
        "training 4: epoch 7 of 30, 0.0400 on valid so far, at most 69 s left",
        "training 4: epoch 14 of 30, 0.0900 on valid so far, at most 48 s left",
        "training 4: epoch 21 of 30, 0.1900 on valid so far, at most 27 s left",
        "training 4: epoch 28 of 30, 0.2400 on valid so far, at most 6 s left",
    ]
    assert ends == "training 4: 0.2900, done"


def test_a_training_that_is_taken_up_says_so_and_is_timed_by_what_is_done_now(clock, console):
    told(Trainings(console), clock, epochs=30, seconds=10, minutes=10, start=20)
    taken_up, estimate, *_ = console.file.getvalue().splitlines()
    assert taken_up == "training 4 goes on at epoch 21"
    assert estimate.startswith("a training takes about 5 min (30 epochs)")
    assert "about 2 can come to their end" in estimate  # one in 100 s, another in 300 s more


def test_quick_trainings_need_no_estimate(clock, console):
    told(Trainings(console), clock, epochs=30, seconds=0.1, minutes=10)
    assert [line.partition(":")[0] for line in console.file.getvalue().splitlines()] == [
        "training 4 begins",
        "training 4",
    ]


def test_where_not_one_training_fits_what_would_fit_is_said():
    assert in_all(epochs=300, left=298, pace=2, seconds=60) == (
        "a training takes about 10 min (300 epochs), and the search has 60 s left: none will come "
        "to its end; give it --minutes 13 or more, or fewer epochs in another folder "
        "(--set train.epochs=24)"
    )


def test_the_bar_of_a_training_shows_its_epochs(clock, console):
    with Progress(console=console, disable=True) as bar:
        shown = TrainingsBar(console, bar)
        seen, update = [], bar.update

        def watch(task, **values):
            update(task, **values)
            seen.append(bar.tasks[0].completed)

        bar.update = watch
        told(shown, clock, epochs=30, seconds=3, minutes=10, start=20)
        (task,) = bar.tasks
        assert task.fields["how_far"] == "" and not task.visible  # it has ended
        steps = [place for place in seen if place]
        assert steps[0] == 20 and steps[-1] == 30
        assert all(before <= after for before, after in pairwise(steps))
