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
from itertools import count
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
from assent.files.runs import TRACE
from assent.files.text import read_json
from assent.reporting.charts import parallel
from assent.reporting.progress import Unwatched, trainings
from assent.reporting.rendering import svg
from assent.reporting.reported_run import STOPS as MEASURES
from assent.reporting.showing import shown
from assent.settings import Settings, model_names, resolve, settled, to_toml
from assent.training.schedules import RISING
from assent.training.spaces import Between, Space, space
from assent.training.trace import read_events
from assent.verbs.read import place
from assent.verbs.runs import load_benchmark
from assent.verbs.train import fit

SEARCH, JOURNAL, TRIALS = "search.json", "journal.log", "trials"
TABLE, BEST, CHART = "trials.tsv", "best.toml", "search.svg"
THIRD = 3  # one of so many trainings goes on at each rung
WARM = 8  # trainings with settings drawn at random, before anything is learned from them
DONE, ENDED_EARLY, UNDER_WAY = "done", "ended early", "under way"
BEGINNINGS = ("start", "resume", "mining", "counted")  # the first of these tells where it is


class Trial(NamedTuple):
    """One training."""

    number: int  # of its folder
    score: float  # the best on valid; nan where nothing was measured yet
    epochs: int
    state: str
    settings: dict[str, Any]  # by name, those that were searched


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
    of each training that begins, is taken up or ends, where there is one worker, in place of the
    `progress` that is shown where a person watches.
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
    of a training than that it failed each time it was asked for.
    """
    from optuna.trial import TrialState

    for trial in study.get_trials(states=(TrialState.RUNNING,)):
        study.tell(trial.number, state=TrialState.FAIL)
    for first, trial in _newest(study).items():
        if trial.state == TrialState.FAIL:
            had = {"folder": trial.user_attrs["folder"]} if "folder" in trial.user_attrs else {}
            study.enqueue_trial(_params(trial), user_attrs={"first": first, **had})


def _newest(study: Any) -> dict[int, Any]:
    """Each training as it was asked for last, by the number that it was asked for with first."""
    return {_first(trial): trial for trial in study.get_trials()}


def _first(trial: Any) -> int:
    """Optuna's number of a training when it was asked for first.

    In journals that do not have it, that is the number of the folder.
    """
    known = trial.user_attrs
    return int(known.get("first", known.get("folder", trial.number)))


def _params(trial: Any) -> dict[str, Any]:
    """What a training is made of, or is to be, if it was killed before it was."""
    return {**trial.system_attrs.get("fixed_params", {}), **trial.params}


def _folder_number(study: Any, trial: Any, trials: Path) -> int:
    """The number of the folder of a training: the one that it has, or the next that is free.

    A folder is taken by making it, so that two workers never take the same.
    """
    if "folder" in trial.user_attrs:
        return int(trial.user_attrs["folder"])
    taken = {known.user_attrs.get("folder") for known in study.get_trials(deepcopy=False)}
    trial.set_user_attr("first", _first(trial))
    number = next(n for n in count() if n not in taken and _is_mine(trials / f"{n:04}"))
    trial.set_user_attr("folder", number)
    return number


def _is_mine(folder: Path) -> bool:
    """Makes a folder; whether nobody else had."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return False
    return True


class TimeUp(Exception):  # noqa: N818  (no error)
    """The minutes of the search are over."""


class Listening(Unwatched):
    """Tells Optuna what a training comes to, and ends it where that is too little.

    `begins` hears once how many epochs the training has, when it begins or is taken up.
    """

    def __init__(self, trial: Any, ends: float, begins: Callable[[int], None]) -> None:
        self.trial, self.ends, self.begins = trial, ends, begins
        self.has_begun = False
        self.best, self.epochs, self.last = -math.inf, 0, math.inf

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None:
        if time.time() > self.ends:
            raise TimeUp

    def event(self, **values: Any) -> None:
        if values["event"] in BEGINNINGS and not self.has_begun:
            self.has_begun = True
            self.begins(values.get("epoch", 0))
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
        at = _folder_number(study, trial, job.folder / TRIALS)
        made_of = _made_of(trial.params)

        def begins(epochs: int, at: int = at, made_of: dict[str, Any] = made_of) -> None:
            told(Trial(at, math.nan, epochs, UNDER_WAY, made_of))

        listening = Listening(trial, job.ends, begins)
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


def _made_of(params: dict[str, Any]) -> dict[str, Any]:
    return {name: _rounded(value) for name, value in params.items()}


def _trial(trial: Any) -> Trial:
    """A training that ended."""
    done = trial.state.name == "COMPLETE"
    return Trial(
        int(trial.user_attrs["folder"]),
        float(trial.user_attrs["best"]),
        int(trial.user_attrs["epochs"]),
        DONE if done else ENDED_EARLY,
        _made_of(trial.params),
    )


def _under_way(trial: Any, trials: Path) -> Trial:
    """A training that goes on when the search does, as far as its trace tells."""
    number = int(trial.user_attrs["folder"])
    trace = trials / f"{number:04}" / TRACE
    events = read_events(trace) if trace.exists() else []
    epochs = [event["epoch"] for event in events if event["event"] == "epoch"]
    scores = [event["score"] for event in events if event["event"] == "evaluation"]
    score, epoch = max(scores, default=math.nan), max(epochs, default=0)
    return Trial(number, score, epoch, UNDER_WAY, _made_of(_params(trial)))


def _kept(job: Job) -> Found:
    """Writes what was found: a table, the best settings, a chart."""
    states = _optuna().trial.TrialState
    newest = [trial for trial in _newest(_study(job, 0)).values() if "folder" in trial.user_attrs]
    ended = [_trial(t) for t in newest if t.state in (states.COMPLETE, states.PRUNED)]
    ended.sort(key=lambda trial: (-trial.score, trial.number))
    open_ones = [t for t in newest if t.state in (states.RUNNING, states.WAITING)]
    under_way = [_under_way(trial, job.folder / TRIALS) for trial in open_ones]
    trials = [*ended, *sorted(under_way, key=lambda trial: trial.number)]
    searched = _searched(job.model, job.changes)
    names = list(searched)
    with beside(job.folder / TABLE) as part, part.open("w", encoding="utf-8") as file:
        print("trial", "score", "epochs", "state", *names, sep="\t", file=file)
        for trial in trials:
            score = "" if math.isnan(trial.score) else f"{trial.score:.4f}"
            known = (trial.settings.get(name) for name in names)
            written = ["" if value is None else json.dumps(value) for value in known]
            print(trial.number, score, trial.epochs, trial.state, *written, sep="\t", file=file)
    done = [trial for trial in ended if trial.state == DONE]
    if not done:
        raise DataError(
            f"{job.folder}: no training came to its end in this time; the same command goes on"
        )
    settings = resolve(job.model, changes=(*job.changes, *_changes(done[0].settings)))
    with beside(job.folder / BEST) as part:
        part.write_text(to_toml(settings.sections()), encoding="utf-8")
    rows = [(trial.score, trial.state, trial.settings) for trial in ended]
    measure = MEASURES.get(settings.train.stop_on, settings.train.stop_on)
    with beside(job.folder / CHART) as part:
        chart = parallel(rows, _logarithmic(searched), measure, (DONE, ENDED_EARLY))
        part.write_text(svg(chart), encoding="utf-8")
    return Found(tuple(trials), settings, job.folder)


def _logarithmic(searched: Space) -> dict[str, bool]:
    """By setting: whether its numbers are even in their logarithm."""
    return {name: isinstance(k, Between) and k.step is None for name, k in searched.items()}
