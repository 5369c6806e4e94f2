"""The journal of a search: the settings that Optuna proposes, and what came of each training.

Several processes may write to it, and each of them may be killed at any moment.
"""

import fcntl
import math
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from assent.errors import ConfigError
from assent.files.atomic import beside
from assent.files.runs import TRACE
from assent.training.spaces import Between, Choice, Space
from assent.training.trace import read_events

JOURNAL, TRIALS = "journal.log", "trials"
THIRD = 3  # one of so many trainings goes on at each rung
WARM = 8  # trainings with settings drawn at random, before anything is learned from them
DONE, ENDED_EARLY, UNDER_WAY = "done", "ended early", "under way"


class Trial(NamedTuple):
    """One training."""

    number: int  # of its folder
    score: float  # the best on valid; nan where nothing was measured yet
    epochs: int
    state: str
    settings: dict[str, Any]  # by name, those that were searched


class Journal:
    """All trainings of the search in a folder, the killed ones too.

    `rung`: epochs until the first evaluation, at which bad trainings end. Each worker of a search
    opens the journal for itself, and draws settings of its own.
    """

    def __init__(self, folder: Path, rung: int, seed: int, worker: int = 0) -> None:
        self.trials_folder = folder / TRIALS
        self.optuna = _optuna()
        self.states = self.optuna.trial.TrialState
        self.study = self._study(folder / JOURNAL, rung)
        # A search that goes on must not draw the settings again that it began with.
        tried = len(self.study.get_trials(deepcopy=False))
        self.study.sampler = self.optuna.samplers.TPESampler(
            seed=(seed * 1000 + worker + 1_000_003 * tried) % 2**32,
            n_startup_trials=WARM,
            constant_liar=True,
        )

    def _study(self, journal: Path, rung: int) -> Any:
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        lock: Any = _Locked(journal)  # it needs no more than the two methods
        return self.optuna.create_study(
            study_name="search",
            direction="maximize",
            storage=JournalStorage(JournalFileBackend(str(journal), lock)),
            load_if_exists=True,
            pruner=self.optuna.pruners.SuccessiveHalvingPruner(
                min_resource=rung, reduction_factor=THIRD
            ),
        )

    def begin(self, usual: dict[str, Any]) -> None:
        """Asks for the `usual` settings first; or, in a search that goes on, for what was killed.

        Trainings that were killed are asked for in the folders and with what they have. This may be
        killed too, after any of its lines: what counts is whether anything else is known of a
        training than that it failed each time it was asked for.
        """
        for trial in self.study.get_trials(states=(self.states.RUNNING,)):
            self.study.tell(trial.number, state=self.states.FAIL)
        for first, trial in self._newest().items():
            if trial.state == self.states.FAIL:
                had = {"folder": trial.user_attrs["folder"]} if "folder" in trial.user_attrs else {}
                self.study.enqueue_trial(_params(trial), user_attrs={"first": first, **had})
        if not self.study.get_trials(deepcopy=False):
            self.study.enqueue_trial(usual)

    def ask(self, searched: Space) -> "Asked":
        """The next training."""
        trial = self.drawn(searched)
        return Asked(self, trial, self._folder_number(trial))

    def drawn(self, searched: Space) -> Any:
        """Optuna's next trial, which has no folder yet."""
        return self.study.ask({name: self._distribution(kind) for name, kind in searched.items()})

    def num_ended(self) -> int:
        return len(self.study.get_trials(states=(self.states.COMPLETE, self.states.PRUNED)))

    def trials(self) -> list[Trial]:
        """All trainings: those that ended, the best first; then those that may be taken up."""
        newest = [trial for trial in self._newest().values() if "folder" in trial.user_attrs]
        both = (self.states.COMPLETE, self.states.PRUNED)
        ended = [_ended(trial) for trial in newest if trial.state in both]
        both = (self.states.RUNNING, self.states.WAITING)
        under_way = [self._under_way(trial) for trial in newest if trial.state in both]
        return [
            *sorted(ended, key=lambda trial: (-trial.score, trial.number)),
            *sorted(under_way, key=lambda trial: trial.number),
        ]

    def _newest(self) -> dict[int, Any]:
        """Each training as it was asked for last, by its number when it was asked for first."""
        return {_first(trial): trial for trial in self.study.get_trials()}

    def _folder_number(self, trial: Any) -> int:
        """The number of the folder of a training: the one that it has, or the next that is free.

        A folder is taken by making it, so that two workers never take the same.
        """
        if "folder" in trial.user_attrs:
            return int(trial.user_attrs["folder"])
        known = self.study.get_trials(deepcopy=False)
        taken = {one.user_attrs.get("folder") for one in known}
        trial.set_user_attr("first", _first(trial))
        number = next(n for n in count() if n not in taken and _is_mine(self.folder_of(n)))
        trial.set_user_attr("folder", number)
        return number

    def folder_of(self, number: int) -> Path:
        """The folder of a training, which is a run."""
        return self.trials_folder / f"{number:04}"

    def _under_way(self, trial: Any) -> Trial:
        """A training that goes on when the search does, as far as its trace tells."""
        number = int(trial.user_attrs["folder"])
        trace = self.folder_of(number) / TRACE
        events = read_events(trace) if trace.exists() else []
        epochs = [event["epoch"] for event in events if event["event"] == "epoch"]
        scores = [event["score"] for event in events if event["event"] == "evaluation"]
        score, epoch = max(scores, default=math.nan), max(epochs, default=0)
        return Trial(number, score, epoch, UNDER_WAY, _rounded(_params(trial)))

    def _distribution(self, kind: Between | Choice) -> Any:
        of = self.optuna.distributions
        if not isinstance(kind, Between):
            return of.CategoricalDistribution(kind)
        if kind.step is None:
            return of.FloatDistribution(kind.low, kind.high, log=True)
        return of.FloatDistribution(kind.low, kind.high, step=kind.step)


class Asked:
    """A training that the journal asks for, and is told about."""

    def __init__(self, journal: Journal, trial: Any, number: int) -> None:
        self.journal, self.trial, self.number = journal, trial, number
        self.folder = journal.folder_of(number)
        self.settings: dict[str, Any] = _rounded(trial.params)

    def report(self, score: float, epoch: int) -> None:
        """Hears what an evaluation found."""
        self.trial.report(score, epoch)

    def is_behind(self) -> bool:
        """Whether what the evaluations found is too little to go on."""
        return bool(self.trial.should_prune())

    def ended(self, best: float, epochs: int, *, early: bool) -> Trial:
        """Hears what the training came to."""
        self.trial.set_user_attr("epochs", epochs)
        self.trial.set_user_attr("best", best)
        if early:
            self.journal.study.tell(self.trial, state=self.journal.states.PRUNED)
        else:
            self.journal.study.tell(self.trial, best)
        return Trial(self.number, best, epochs, ENDED_EARLY if early else DONE, self.settings)


def heal(folder: Path) -> None:
    """Takes away a line that a killed search, or a full disk, left unfinished at the end."""
    journal = folder / JOURNAL
    content = journal.read_bytes() if journal.exists() else b""
    if content and not content.endswith(b"\n"):
        with beside(journal) as part:
            part.write_bytes(content[: content.rfind(b"\n") + 1])


class _Locked:
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


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise ConfigError("search needs Optuna: pip install 'assent-kb[search]'") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _first(trial: Any) -> int:
    """Optuna's number of a training when it was asked for first.

    In journals that do not have it, that is the number of the folder.
    """
    known = trial.user_attrs
    return int(known.get("first", known.get("folder", trial.number)))


def _params(trial: Any) -> dict[str, Any]:
    """What a training is made of, or is to be, if it was killed before it was."""
    return {**trial.system_attrs.get("fixed_params", {}), **trial.params}


def _is_mine(folder: Path) -> bool:
    """Makes a folder; whether nobody else had."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return False
    return True


def _ended(trial: Any) -> Trial:
    known, done = trial.user_attrs, trial.state.name == "COMPLETE"
    return Trial(
        int(known["folder"]),
        float(known["best"]),
        int(known["epochs"]),
        DONE if done else ENDED_EARLY,
        _rounded(trial.params),
    )


def _rounded(params: dict[str, Any]) -> dict[str, Any]:
    """Settings that a person would write down."""
    return {
        name: float(f"{value:.3g}") if isinstance(value, float) else value
        for name, value in params.items()
    }
