"""What people are told while a model trains, and after it."""

import io
import math

import pytest
from rich.console import Console
from rich.progress import Progress, TimeRemainingColumn

from assent.reporting import progress
from assent.reporting.advice import advice
from assent.reporting.progress import Bar, Lines
from assent.training.trace import Trained


class Clock:
    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def test_after_a_resume_the_time_left_is_that_of_the_epochs_left(clock):
    """Resumed before the last of 10 steps of an epoch that took 20 s, after a minute of reading."""
    lines = Lines(Console(file=io.StringIO()))
    clock.now += 60
    lines.event(event="resume", epoch=9, step=9, epochs=30)
    clock.now += 2
    lines.step(9, 10, 10, 0.5, 8)
    ended = {"event": "epoch", "loss": 0.5, "queries_per_second": 4}
    assert "at most 7 min left" in lines.in_words({**ended, "epoch": 10, "seconds": 20.0})
    for step in range(1, 11):
        clock.now += 3  # with evaluations and checkpoints, 30 s an epoch
        lines.step(10, step, 10, 0.5, 8)
    assert "at most 9 min left" in lines.in_words({**ended, "epoch": 11, "seconds": 20.0})


def test_a_second_training_has_a_clock_and_epochs_of_its_own(clock):
    """A final fit is watched by the same lines as the training before it."""
    lines = Lines(Console(file=io.StringIO()))
    for _ in range(300):
        lines.step(0, 1, 10, 0.5, 8)
    lines.event(event="start", queries=8, steps=10, epochs=5)
    for step in range(1, 11):
        clock.now += 2
        lines.step(0, step, 10, 0.5, 8)
    ended = {"event": "epoch", "epoch": 1, "loss": 0.5, "queries_per_second": 4, "seconds": 20.0}
    said = lines.in_words(ended)
    assert "epoch   1 of 5" in said and "at most 80 s left" in said


def test_one_is_told_in_the_singular():
    lines = Lines(Console(file=io.StringIO()))
    start = {"event": "start", "queries": 1, "steps": 1, "epochs": 1}
    end = {"event": "end", "epochs": 1, "best_epoch": 1}
    assert lines.in_words(start) == "1 query, 1 step an epoch"
    assert (
        lines.in_words(start | {"queries": 3000, "steps": 2}) == "3,000 queries, 2 steps an epoch"
    )
    assert lines.in_words(end).startswith("done after 1 epoch; the best was epoch 1")
    assert lines.in_words(end | {"epochs": 3}).startswith("done after 3 epochs; the best")


def test_the_bar_does_not_count_what_was_done_before_a_resume():
    with Progress(TimeRemainingColumn(), console=Console(file=io.StringIO()), disable=True) as bar:
        shown = Bar(bar.console, bar)
        shown.event(event="resume", epoch=9, step=8, epochs=30)
        shown.step(9, 9, 10, 0.5, 8)
        (task,) = bar.tasks
        assert (task.total, task.completed) == (300, 99)
        assert sum(sample.completed for sample in task._progress) <= 1


def trained(*scores, best_epoch=30):
    return Trained(best_epoch, scores, 30)


@pytest.mark.parametrize(
    ("done", "baseline", "words"),
    [
        (trained(0.2, 0.3), 0.1, "still getting better at the end (from 0.2000 to 0.3000)"),
        (trained(0.3, 0.3005), 0.1, None),
        (trained(0.3, 0.2, best_epoch=25), 0.1, None),
        (trained(0.1), 0.2, "no better than popularity alone"),
        (trained(0.2, 0.3), None, "still getting better"),
        (trained(-2.0, -1.0), None, "still getting better"),  # minus the dev loss
        (trained(), None, None),
        (trained(best_epoch=0), 0.1, None),
    ],
)
def test_a_model_that_needs_more_epochs_says_so(done, baseline, words):
    said = advice(done, baseline, 10_000, 30)
    assert said is None if words is None else said.startswith(words)
    assert said is None or "--set train.epochs=90" in said


def test_nothing_measured_is_nothing_advised():
    assert advice(Trained(1, (), 1), math.nan, 300, 0) is None


def test_a_model_of_few_facts_says_what_may_do_better():
    good = trained(0.3, 0.3005)
    assert advice(good, 0.1, 10_000, 30) is None
    said = advice(good, 0.1, 300, 30)
    assert said.startswith("only 300 train facts") and "trains longer" in said
    done = advice(trained(0.3, 0.2, best_epoch=15), 0.1, 300, 30)
    assert done.startswith("only 300 train facts") and "trains longer" not in done
    assert all(way in said for way in ("train.epochs=90", "--model rules", "assent search"))
    assert advice(trained(0.1), 0.2, 300, 30).startswith("no better than popularity")


def test_more_epochs_are_not_advised_where_training_ended_before_them():
    said = advice(trained(0.3, 0.2, best_epoch=15), 0.4, 300, 100)
    assert "train.patience=20" in said and "train.epochs" not in said


def test_rules_are_not_told_to_train_longer():
    counted = Trained(1, (0.3,), 1)
    assert advice(counted, 0.1, 300, 0) is None
    assert "epochs" not in advice(counted, 0.4, 300, 0)
