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
        """Asks for the `usual` settings first, unless the search was begun before."""
        if not self.study.get_trials(deepcopy=False):
            self.study.enqueue_trial(usual)

    def left(self) -> list[int]:
        """Trainings that were stopped or killed, by Optuna's numbers; for when none is under way.

        Each stays the trial that it is: were it asked for again, it would be compared with itself.
        """
        running = self.study.get_trials(deepcopy=False, states=(self.states.RUNNING,))
        return [trial.number for trial in running]

    def take_up(self, number: int, searched: Space) -> "Asked":
        """A training that was left, with the settings and the folder that it has."""
        left = self.study.get_trials(deepcopy=False)[number]
        # `study.ask` calls this constructor too; Optuna has no other way back to a trial.
        return self._asked(self.optuna.trial.Trial(self.study, left._trial_id), searched)

    def ask(self, searched: Space) -> "Asked":
        """The next training."""
        return self._asked(self.study.ask(), searched)

    def _asked(self, trial: Any, searched: Space) -> "Asked":
        """A training with what it lacks of its settings, in its folder."""
        for name, kind in searched.items():
            if name not in trial.params:  # a killed one may have some of them
                _draw(trial, name, kind)
        return Asked(self, trial, self._folder_number(trial))

    def num_begun(self) -> int:
        """Trainings that ended or may be taken up."""
        states = (self.states.RUNNING, self.states.COMPLETE, self.states.PRUNED)
        return len(self.study.get_trials(deepcopy=False, states=states))

    def trials(self) -> list[Trial]:
        """All trainings: those that ended, the best first; then those that may be taken up."""
        begun = [trial for trial in self.study.get_trials() if "folder" in trial.user_attrs]
        both = (self.states.COMPLETE, self.states.PRUNED)
        ended = [_ended(trial) for trial in begun if trial.state in both]
        running = [trial for trial in begun if trial.state == self.states.RUNNING]
        under_way = map(self._under_way, running)
        return [
            *sorted(ended, key=lambda trial: (-trial.score, trial.number)),
            *sorted(under_way, key=lambda trial: trial.number),
        ]

    def _folder_number(self, trial: Any) -> int:
        """The number of the folder of a training: the one that it has, or the next that is free.

        A folder is taken by making it, so that two workers never take the same.
        """
        if "folder" in trial.user_attrs:
            return int(trial.user_attrs["folder"])
        known = self.study.get_trials(deepcopy=False)
        taken = {one.user_attrs.get("folder") for one in known}
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
        return Trial(number, score, epoch, UNDER_WAY, _rounded(trial.params))


class Asked:
    """A training that the journal asks for, and is told about."""

    def __init__(self, journal: Journal, trial: Any, number: int) -> None:
        self.journal, self.trial, self.number = journal, trial, number
        self.folder = journal.folder_of(number)
        self.settings: dict[str, Any] = _rounded(trial.params)
        known = journal.study.get_trials(deepcopy=False)[trial.number]
        self.scores: dict[int, float] = dict(known.intermediate_values)  # by epoch

    def report(self, score: float, epoch: int) -> None:
        """Hears what an evaluation found; of one that a killed search made too, nothing new."""
        if epoch not in self.scores:
            self.scores[epoch] = score
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


def _draw(trial: Any, name: str, kind: Between | Choice) -> None:
    """Has Optuna give a trial one of its settings."""
    if isinstance(kind, Between):
        trial.suggest_float(name, kind.low, kind.high, step=kind.step, log=kind.step is None)
    else:
        trial.suggest_categorical(name, kind)


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
