"""search: settings for a model, found by training it many times.

Optuna proposes settings: at first at random, later near those that did well (TPE; Bergstra et al.,
2011). The first training has the settings that the model has anyway. Successive halving (Jamieson &
Talwalkar, 2016) ends most trainings early: at 1, 3, 9, ... times the epochs of the first
evaluation, those go on that are among the best third so far. All is measured on valid; test has no
part in it.
"""

import fcntl
import json
import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from assent.core.benchmark import Benchmark
from assent.core.checking import refuse_unknown
from assent.core.queries import Queries, both_ways
from assent.errors import ConfigError, DataError
from assent.files.atomic import beside, full_at, tidy
from assent.files.text import read_json
from assent.reporting.grid import counted, measure_name, setting_value
from assent.reporting.parallel import parallel
from assent.reporting.progress import Unwatched
from assent.reporting.rendering import svg
from assent.reporting.showing import shown
from assent.reporting.trainings import trainings
from assent.settings import Settings, in_toml, model_names, resolve, settled, to_toml
from assent.training.journal import DONE, ENDED_EARLY, UNDER_WAY, Asked, Journal, Trial, heal
from assent.training.loop import TimeUp, Watcher
from assent.training.schedules import RISING
from assent.training.spaces import Between, Space, space
from assent.verbs.read import place
from assent.verbs.runs import load_benchmark
from assent.verbs.train import fit

SEARCH, TABLE, BEST, CHART = "search.json", "trials.tsv", "best.toml", "search.svg"
BEGINNINGS = ("start", "resume", "mining", "counted")  # the first of these tells where it is


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to."""

    trials: tuple[Trial, ...]  # the best first, those under way last
    settings: Settings  # of the best
    folder: Path


class Job(NamedTuple):
    """What every process of a search must know."""

    benchmark: str
    model: str
    changes: tuple[str, ...]
    folder: Path
    ends: float  # seconds since 1970
    most: int | None  # trainings, in all
    seed: int
    rung: int  # epochs until the first evaluation, at which bad trainings end

    def journal(self, worker: int = 0) -> Journal:
        return Journal(self.folder, self.rung, self.seed, worker)


def search(
    benchmark: str | Path,
    model: str,
    *,
    out: str | Path,
    minutes: float = 60.0,
    trials: int | None = None,
    workers: int = 1,
    changes: Iterable[str] = (),
    seed: int = 0,
    watcher: Watcher | None = None,
    progress: bool = True,
) -> Found:
    """Trains a model with many settings for so many minutes, and keeps the best ones in `out`.

    `changes` such as "train.epochs=10" hold for all trainings; what they set is not searched. The
    same call goes on where it was stopped or killed, also in the middle of a training. Where there
    is one worker, a `watcher` is told of every step and event of its trainings, in place of the
    `progress` that is shown where a person watches; and of an event `training`, with a `trial`,
    where one begins, is taken up or ended.
    """
    refuse_unknown(model, model_names(), "model")
    if not minutes > 0 or workers < 1 or (trials is not None and trials < 1):
        raise ConfigError("search: minutes, trials and workers must be more than 0")
    changes = tuple(changes)
    if not resolve(model, changes=changes).train.evaluate_every:
        raise ConfigError("search: train.evaluate_every = 0 measures nothing to compare by")
    if not _searched(model, changes):
        raise ConfigError(f"search: all of {', '.join(space(model))} are set; leave some open")
    where, folder = str(place(benchmark).resolve()), Path(out)
    of = load_benchmark(where)
    about = {"benchmark": of.digest(), "model": model, "changes": list(changes), "seed": seed}
    rung = first_evaluation(resolve(model, changes=changes), of)
    job = Job(where, model, changes, folder, time.time() + 60 * minutes, trials, seed, rung)
    with (
        full_at(folder),
        _searching(folder, about),
        shown(watcher or progress, trainings) as told,
    ):
        told.event(event="search", minutes=minutes)
        journal = job.journal()
        journal.begin(usual(model, changes))
        left = journal.left()
        if workers == 1:
            _work(job, 0, left, told)
        else:
            # Each process starts afresh: one that was forked would share torch's threads.
            spawned = get_context("spawn")
            with ProcessPoolExecutor(workers, spawned, initializer=_end_with_parent) as pool:
                shares = [left[number::workers] for number in range(workers)]
                for worker in [
                    pool.submit(_work, job, number, share, Unwatched())
                    for number, share in enumerate(shares)
                ]:
                    worker.result()
        return _kept(job)


@contextmanager
def _searching(folder: Path, about: dict[str, Any]) -> Iterator[None]:
    """Starts a search in a folder or takes it up; refuses another's, and two at once."""
    path = folder / SEARCH
    if not path.exists():
        tidy(folder)
        if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise ConfigError(f"{folder}: is there already, and no search; choose another folder")
        folder.mkdir(parents=True, exist_ok=True)
        with beside(path) as part:
            part.write_text(json.dumps(about) + "\n", encoding="utf-8")
    elif read_json(path) != about:
        raise ConfigError(f"{folder}: has another search, of {path}; choose another folder")
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DataError(f"{folder}: is being searched by another process") from error
        heal(folder)
        yield


def _searched(model: str, changes: tuple[str, ...]) -> Space:
    """What is tried: the model's space, but for what is set."""
    fixed = {change.partition("=")[0].strip() for change in changes}
    return {name: kind for name, kind in space(model).items() if name not in fixed}


def first_evaluation(settings: Settings, benchmark: Benchmark) -> int:
    """After how many epochs a training is measured first.

    Halving begins there. If it began at fewer, several of its rungs would fall on that evaluation,
    and a third of a third would go on.
    """
    queries = Queries.grouped(*both_ways(benchmark.train, benchmark.vocabulary.num_relations))
    train = settled(settings, len(queries)).train
    rises = RISING.get(train.schedule, 0) * train.epochs
    every = max(train.evaluate_every, 1)
    return min(max(math.ceil(rises / every), 1) * every, train.epochs)


def usual(model: str, changes: tuple[str, ...]) -> dict[str, Any]:
    """What is searched, as the model has it without a search; without what its space has not.

    So the best of a search is hardly worse on its graph than what there was before.
    """
    sections = resolve(model, changes=changes).sections()
    found = {}
    for name, kind in _searched(model, changes).items():
        section, _, key = name.partition(".")
        value = sections[section][key]
        if kind.low <= value <= kind.high if isinstance(kind, Between) else value in kind:
            found[name] = value
    return found


class EndedEarly(Exception):  # noqa: N818  (no error)
    """A training did too badly to go on."""


class Listening:
    """Tells the journal what a training comes to, and ends it where that is too little.

    A watcher hears of its steps and events, and first that it begins or is taken up.
    """

    def __init__(self, asked: Asked, ends: float, told: Watcher) -> None:
        self.asked, self.ends, self.told = asked, ends, told
        self.has_begun = False
        self.best = max(asked.scores.values(), default=-math.inf)
        self.epochs, self.last = 0, math.inf

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None:
        self.told.step(epoch, step, steps, loss, queries)
        if time.time() > self.ends:
            raise TimeUp

    def event(self, **values: Any) -> None:
        if values["event"] in BEGINNINGS and not self.has_begun:
            self.has_begun = True
            begun = Trial(
                self.asked.number,
                max(self.asked.scores.values(), default=math.nan),
                values.get("epoch", 0),
                UNDER_WAY,
                self.asked.settings,
            )
            self.told.event(event="training", trial=begun)
        self.told.event(**values)
        if "epochs" in values:  # of a training that starts or goes on
            self.last = values["epochs"]
        if values["event"] != "evaluation":
            return
        self.best, self.epochs = max(self.best, values["score"]), values["epoch"]
        self.asked.report(values["score"], values["epoch"])
        if values["epoch"] < self.last and self.asked.is_behind():
            raise EndedEarly


def _work(job: Job, worker: int, left: Sequence[int], told: Watcher) -> None:
    """Trains until the time is up: what was `left` under way first, then with other settings."""
    journal, benchmark = job.journal(worker), load_benchmark(job.benchmark)
    for asked in _asked(job, journal, left):
        listening = Listening(asked, job.ends, told)
        settings = _settings(job, asked.settings)
        try:
            run = fit(benchmark, settings, asked.folder, job.benchmark, listening)
        except TimeUp:  # the trial stays open, and the next search takes it up
            return
        except EndedEarly:
            trial = asked.ended(listening.best, listening.epochs, early=True)
        else:
            best = max(run.trained.scores, default=-math.inf)
            trial = asked.ended(best, run.trained.epochs, early=False)
        told.event(event="training", trial=trial)


def _asked(job: Job, journal: Journal, left: Sequence[int]) -> Iterator[Asked]:
    """One training after another, as long as there is time.

    What was begun is brought to its end, whatever the most is: else a search might stop for ever
    with all of its trainings ended early.
    """
    searched = _searched(job.model, job.changes)
    for number in left:
        if time.time() < job.ends:
            yield journal.take_up(number, searched)
    while time.time() < job.ends and (job.most is None or journal.num_begun() < job.most):
        yield journal.ask(searched)


def _end_with_parent() -> None:
    """Ends this worker at once when the search is killed; its training can be taken up later.

    Left alone, it would wait for work for ever: the other workers hold the queue open.
    """

    def watch(search: BaseProcess) -> None:
        search.join()
        os._exit(1)

    if (parent := parent_process()) is not None:
        Thread(target=watch, args=(parent,), daemon=True).start()


def _settings(job: Job, searched: Mapping[str, Any]) -> Settings:
    """All settings of a training, by those that were searched."""
    found = [f"{name}={in_toml(value)}" for name, value in searched.items()]
    return resolve(job.model, changes=(*job.changes, *found))


def _kept(job: Job) -> Found:
    """Writes what was found: a table, the best settings, a chart."""
    trials = job.journal().trials()
    searched = _searched(job.model, job.changes)
    names = list(searched)
    with beside(job.folder / TABLE) as part, part.open("w", encoding="utf-8") as file:
        print("trial", "score", "epochs", "state", *names, sep="\t", file=file)
        for trial in trials:
            score = "" if math.isnan(trial.score) else f"{trial.score:.4f}"
            known = (trial.settings.get(name) for name in names)
            written = ["" if value is None else setting_value(value) for value in known]
            print(trial.number, score, trial.epochs, trial.state, *written, sep="\t", file=file)
    ended = [trial for trial in trials if trial.state != UNDER_WAY]
    best = next((trial for trial in ended if trial.state == DONE), None)
    if best is None:
        raise DataError(f"{job.folder}: {_unfinished(job, trials)}")
    settings = _settings(job, best.settings)
    with beside(job.folder / BEST) as part:
        part.write_text(to_toml(settings.sections()), encoding="utf-8")
    rows = [(trial.score, trial.state, trial.settings) for trial in ended]
    measure = measure_name(settings.train.stop_on)
    with beside(job.folder / CHART) as part:
        chart = parallel(rows, _logarithmic(searched), measure, (DONE, ENDED_EARLY))
        part.write_text(svg(chart), encoding="utf-8")
    return Found(tuple(trials), settings, job.folder)


def _unfinished(job: Job, trials: Sequence[Trial]) -> str:
    """That no training came to its end, and what to do."""
    ended_early = sum(trial.state == ENDED_EARLY for trial in trials)
    if job.most is not None and ended_early >= job.most and ended_early == len(trials):
        return (
            f"no training came to its end: {counted(ended_early, 'training')} ended early, and "
            f"--trials {job.most} allows no more; --trials {ended_early + 1} begins another"
        )
    return "no training came to its end in this time; the same command goes on"


def _logarithmic(searched: Space) -> dict[str, bool]:
    """By setting: whether its numbers are even in their logarithm."""
    return {name: isinstance(k, Between) and k.step is None for name, k in searched.items()}
