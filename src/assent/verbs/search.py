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
from collections.abc import Callable, Iterable, Iterator
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
from assent.files.atomic import beside, tidy
from assent.files.text import read_json
from assent.reporting.charts import parallel
from assent.reporting.progress import Unwatched, trainings
from assent.reporting.rendering import svg
from assent.reporting.showing import shown
from assent.settings import Settings, model_names, resolve, settled, to_toml
from assent.training.schedules import RISING
from assent.training.spaces import Between, Space, space
from assent.verbs.read import place
from assent.verbs.runs import load_benchmark
from assent.verbs.train import fit

SEARCH, JOURNAL, TRIALS = "search.json", "journal.log", "trials"
TABLE, BEST, CHART = "trials.tsv", "best.toml", "search.svg"
THIRD = 3  # one of so many trainings goes on at each rung
WARM = 8  # trainings with settings drawn at random, before anything is learned from them
DONE, ENDED_EARLY = "done", "ended early"


class Trial(NamedTuple):
    """One training."""

    number: int
    score: float  # the best on valid
    epochs: int
    state: str
    settings: dict[str, Any]  # by name, those that were searched


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to."""

    trials: tuple[Trial, ...]  # the best first
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
    rung: int = 1  # epochs until the first evaluation, at which bad trainings end


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
    told: Callable[[Trial], None] | None = None,
    progress: bool = True,
) -> Found:
    """Trains a model with many settings for so many minutes, and keeps the best ones in `out`.

    `changes` such as "train.epochs=10" hold for all trainings; what they set is not searched. The
    same call goes on where it was stopped or killed, also in the middle of a training. `told` hears
    of each training that ends, where there is one worker, in place of the `progress` that is shown
    where a person watches.
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
    with _searching(folder, about), shown(told or progress, trainings) as tell:
        _take_up(study := _study(job, 0))
        if not study.get_trials(deepcopy=False):
            study.enqueue_trial(usual(model, changes))
        if workers == 1:
            _work(job, 0, tell)
        else:
            # Each process starts afresh: one that was forked would share torch's threads.
            spawned = get_context("spawn")
            with ProcessPoolExecutor(workers, spawned, initializer=_end_with_parent) as pool:
                for worker in [pool.submit(_work, job, number) for number in range(workers)]:
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
        _heal(folder / JOURNAL)
        yield


def _heal(journal: Path) -> None:
    """Takes away a line that a killed search, or a full disk, left unfinished at the end."""
    content = journal.read_bytes() if journal.exists() else b""
    if content and not content.endswith(b"\n"):
        with beside(journal) as part:
            part.write_bytes(content[: content.rfind(b"\n") + 1])


class Locked:
    """The lock of a journal, as Optuna asks for one. It ends with the process that holds it.

    Optuna's own outlives a killed process, and the next one waits for it, half a minute.
    """

    def __init__(self, journal: Path) -> None:
        self.journal = journal

    def acquire(self) -> bool:
        self.file = self.journal.open("rb")
        fcntl.flock(self.file, fcntl.LOCK_EX)
        return True

    def release(self) -> None:
        self.file.close()


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


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise ConfigError("search needs Optuna: pip install 'assent-kb[search]'") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _study(job: Job, worker: int) -> Any:
    """What was tried so far, in a journal that several processes may write to."""
    optuna = _optuna()
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    journal = job.folder / JOURNAL
    lock: Any = Locked(journal)  # it needs no more than the two methods
    study = optuna.create_study(
        study_name="search",
        direction="maximize",
        storage=JournalStorage(JournalFileBackend(str(journal), lock)),
        load_if_exists=True,
        pruner=optuna.pruners.SuccessiveHalvingPruner(
            min_resource=job.rung, reduction_factor=THIRD
        ),
    )
    # A search that goes on must not draw the settings again that it began with.
    tried = len(study.get_trials(deepcopy=False))
    seed = (job.seed * 1000 + worker + 1_000_003 * tried) % 2**32
    study.sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=WARM, constant_liar=True)
    return study


def _take_up(study: Any) -> None:
    """Has trainings that were killed asked for again, in the folders and with what they have.

    This may be killed too, after any of its lines: what counts is whether anything else is known
    of a folder than trainings in it that failed.
    """
    from optuna.trial import TrialState

    for trial in study.get_trials(states=(TrialState.RUNNING,)):
        study.tell(trial.number, state=TrialState.FAIL)
    newest = {_place(trial): trial for trial in study.get_trials()}
    for at, trial in newest.items():
        if trial.state == TrialState.FAIL:
            # What it was to be made of, if it was killed before it was.
            asked = trial.system_attrs.get("fixed_params", {})
            study.enqueue_trial({**asked, **trial.params}, user_attrs={"folder": at})


def _place(trial: Any) -> int:
    """The number of the folder that a training is in."""
    return int(trial.user_attrs.get("folder", trial.number))


class TimeUp(Exception):  # noqa: N818  (no error)
    """The minutes of the search are over."""


class Listening(Unwatched):
    """Tells Optuna what a training comes to, and ends it where that is too little."""

    def __init__(self, trial: Any, ends: float) -> None:
        self.trial, self.ends = trial, ends
        self.best, self.epochs, self.last = -math.inf, 0, math.inf

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None:
        if time.time() > self.ends:
            raise TimeUp

    def event(self, **values: Any) -> None:
        if "epochs" in values:  # of a training that starts or goes on
            self.last = values["epochs"]
        if values["event"] != "evaluation":
            return
        self.best, self.epochs = max(self.best, values["score"]), values["epoch"]
        self.trial.report(values["score"], values["epoch"])
        if values["epoch"] < self.last and self.trial.should_prune():
            raise _optuna().TrialPruned


def _work(job: Job, worker: int, told: Callable[[Trial], None] = lambda trial: None) -> None:
    """Trains with one setting after another until the time is up."""
    optuna, study = _optuna(), _study(job, worker)
    states, benchmark = optuna.trial.TrialState, load_benchmark(job.benchmark)
    ended = (states.COMPLETE, states.PRUNED)
    searched = _searched(job.model, job.changes)
    spaces = {name: _distribution(optuna, kind) for name, kind in searched.items()}
    while time.time() < job.ends:
        if job.most is not None and len(study.get_trials(states=ended)) >= job.most:
            return
        trial = study.ask(spaces)
        at = _place(trial)
        trial.set_user_attr("folder", at)
        listening = Listening(trial, job.ends)
        settings = resolve(job.model, changes=(*job.changes, *_changes(trial.params)))
        run_folder = job.folder / TRIALS / f"{at:04}"
        try:
            run = fit(benchmark, settings, run_folder, job.benchmark, listening)
        except TimeUp:  # the trial stays open, and the next search takes it up
            return
        except optuna.TrialPruned:
            trial.set_user_attr("epochs", listening.epochs)
            trial.set_user_attr("best", listening.best)
            study.tell(trial, state=states.PRUNED)
        else:
            best = max(run.trained.scores, default=-math.inf)
            trial.set_user_attr("epochs", run.trained.epochs)
            trial.set_user_attr("best", best)
            study.tell(trial, best)
        told(_trial(study.get_trials(states=ended)[-1]))


def _end_with_parent() -> None:
    """Ends this worker at once when the search is killed; its training can be taken up later.

    Left alone, it would wait for work for ever: the other workers hold the queue open.
    """

    def watch(search: BaseProcess) -> None:
        search.join()
        os._exit(1)

    if (parent := parent_process()) is not None:
        Thread(target=watch, args=(parent,), daemon=True).start()


def _distribution(optuna: Any, kind: Between | tuple[Any, ...]) -> Any:
    if not isinstance(kind, Between):
        return optuna.distributions.CategoricalDistribution(kind)
    if kind.step is None:
        return optuna.distributions.FloatDistribution(kind.low, kind.high, log=True)
    return optuna.distributions.FloatDistribution(kind.low, kind.high, step=kind.step)


def _changes(params: dict[str, Any]) -> list[str]:
    """As `--set` takes them."""
    return [f"{name}={json.dumps(_rounded(value))}" for name, value in params.items()]


def _rounded(value: Any) -> Any:
    """A setting that a person would write down."""
    return float(f"{value:.3g}") if isinstance(value, float) else value


def _trial(trial: Any) -> Trial:
    done = trial.state.name == "COMPLETE"
    return Trial(
        _place(trial),
        float(trial.user_attrs["best"]),
        int(trial.user_attrs["epochs"]),
        DONE if done else ENDED_EARLY,
        {name: _rounded(value) for name, value in trial.params.items()},
    )


def _kept(job: Job) -> Found:
    """Writes what was found: a table, the best settings, a chart."""
    optuna = _optuna()
    states = optuna.trial.TrialState
    found = _study(job, 0).get_trials(states=(states.COMPLETE, states.PRUNED))
    trials = sorted(map(_trial, found), key=lambda trial: (-trial.score, trial.number))
    done = [trial for trial in trials if trial.state == DONE]
    if not done:
        raise DataError(
            f"{job.folder}: no training came to its end in this time; the same command goes on"
        )
    settings = resolve(job.model, changes=(*job.changes, *_changes(done[0].settings)))
    searched = _searched(job.model, job.changes)
    names = list(searched)
    with beside(job.folder / TABLE) as part, part.open("w", encoding="utf-8") as file:
        print("trial", "score", "epochs", "state", *names, sep="\t", file=file)
        for trial in trials:
            shown = [json.dumps(trial.settings[name]) for name in names]
            score = f"{trial.score:.4f}"
            print(trial.number, score, trial.epochs, trial.state, *shown, sep="\t", file=file)
    with beside(job.folder / BEST) as part:
        part.write_text(to_toml(settings.sections()), encoding="utf-8")
    rows = [(trial.score, trial.settings) for trial in trials]
    with beside(job.folder / CHART) as part:
        part.write_text(svg(parallel(rows, _logarithmic(searched))), encoding="utf-8")
    return Found(tuple(trials), settings, job.folder)


def _logarithmic(searched: Space) -> dict[str, bool]:
    """By setting: whether its numbers are even in their logarithm."""
    return {name: isinstance(k, Between) and k.step is None for name, k in searched.items()}
