"""A training in TensorBoard and MLflow: copies of its trace, whole again after any interruption."""

import math
import os
import time
import tomllib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from assent.errors import ConfigError, StoppedError
from assent.files.atomic import beside
from assent.files.places import SETTINGS
from assent.files.runs import TRACE
from assent.measuring.evaluation import Evaluation
from assent.reporting.progress import Together, Unwatched
from assent.training.trace import read_events

METRICS = {  # event -> the values of it that are shown, and as what
    "epoch": {"loss": "loss", "queries_per_second": "queries_per_second"},
    "evaluation": {"score": "valid_score"},
}

KINDS = {
    "full": "all",
    "C": "C",
    "C+F": "C_and_F",
    "I": "I",
    "new anchor": "new_anchor",
    "new answers": "new_answers",
}  # of queries -> as what

Spot = tuple[str, int]  # metric, epoch


class Point(NamedTuple):
    """A value of a metric after an epoch."""

    metric: str
    epoch: int
    value: float
    time: float  # seconds since 1970

    @property
    def spot(self) -> Spot:
        return self.metric, self.epoch


@contextmanager
def tracking(
    run: str | Path, tensorboard: bool = False, mlflow: str | None = None
) -> Iterator[Together]:
    """A watcher of the training in folder `run`, for `RUN/tensorboard` and an MLflow address."""
    trackers: list[Tracker] = []
    trackers += [TensorBoard(Path(run))] if tensorboard else []
    trackers += [MLflow(Path(run), mlflow)] if mlflow else []
    status = "FAILED"
    try:
        yield Together(*trackers)
        status = "FINISHED"
    except StoppedError:
        status = "KILLED"
        raise
    finally:
        for tracker in trackers:
            tracker.close(status)


def track(
    run: str | Path,
    files: Sequence[Path],
    metrics: Mapping[str, float] | None = None,
    *,
    tensorboard: bool = False,
    mlflow: str | None = None,
) -> None:
    """What came after the training of folder `run`: metrics of test, decider, report.

    MLflow gets the files, and the metrics, in the run of the training or in a new one; TensorBoard
    the metrics, and the files that people can read as text, in `RUN/tensorboard/decided`. A place
    that takes nothing ends nothing: a warning names it.
    """
    values = {name: value for name, value in (metrics or {}).items() if math.isfinite(value)}
    places: list[Callable[[], Tracker]] = []
    places += [lambda: TensorBoard(Path(run))] if tensorboard else []
    places += [lambda: MLflow(Path(run), mlflow)] if mlflow else []
    for place in places:
        try:
            place().add(values, files)
        except Exception as error:
            again = "the same command tells it again"
            warnings.warn(f"not tracked: {_first_line(error)}; {again}", stacklevel=2)


def refuse_untrackable(tensorboard: bool = False, mlflow: str | None = None) -> None:
    """Ends before any work where a package is missing."""
    if tensorboard:
        _tensorboard()
    if mlflow:
        _mlflow()


def metrics_of(found: Evaluation) -> dict[str, float]:
    """An evaluation as named numbers: F1 by kind of query, and MRR."""
    told = {kind: name for kind, name in KINDS.items() if kind in found.classified.sets}
    shares = {f"{found.split}.f1.{name}": found.f1(kind) for kind, name in told.items()}
    return {**shares, f"{found.split}.mrr": found.mrr}


class Tracker(Unwatched, ABC):
    """Puts somewhere what the trace has and that place has not.

    It reads the trace rather than what it is told: what a killed process did not write, or a
    server that was away did not take, is made up for with the next event or the next command.
    """

    def __init__(self, run: Path) -> None:
        self.run = run
        self.there: set[Spot] | None = None  # None: not begun

    @abstractmethod
    def begin(self) -> set[Spot]:
        """Opens the place, and says what it has."""

    @abstractmethod
    def put(self, points: list[Point]) -> None: ...

    @abstractmethod
    def end(self, status: str) -> None: ...

    @abstractmethod
    def add(self, metrics: Mapping[str, float], files: Sequence[Path]) -> None:
        """Puts there what came after the training."""

    def event(self, **values: Any) -> None:
        if self.there is None:  # only now: before the first event there need be no folder
            if not (self.run / SETTINGS).is_file():
                raise ConfigError(f"{self.run}: no run to track; give the folder that `out` names")
            self.there = self.begin()
        self._attempt(self._catch_up, self.there)

    def close(self, status: str) -> None:
        if self.there is not None:
            self.event()
            self._attempt(self.end, status)

    def _catch_up(self, there: set[Spot]) -> None:
        points = [point for point in _points(self.run) if point.spot not in there]
        self.put(points)
        there |= {point.spot for point in points}

    def _attempt(self, do: Callable[..., None], *what: Any) -> None:
        """A training is worth more than the pictures of it: it goes on without them."""
        try:
            do(*what)
        except Exception as error:
            warnings.warn(f"not in {type(self).__name__} yet: {_first_line(error)}", stacklevel=2)


class TensorBoard(Tracker):
    """Event files in `RUN/tensorboard`."""

    def __init__(self, run: Path) -> None:
        super().__init__(run)
        self.new_writer = _tensorboard().SummaryWriter

    def begin(self) -> set[Spot]:
        # Hides what was written before, all of which is written again: so an epoch that a
        # resumed training repeats is there once.
        self.writer = self.new_writer(str(self.run / "tensorboard"), purge_step=0)
        return set()

    def put(self, points: list[Point]) -> None:
        for point in points:
            self.writer.add_scalar(point.metric, point.value, point.epoch, point.time)
        self.writer.flush()

    def end(self, status: str) -> None:
        self.writer.close()

    def add(self, metrics: Mapping[str, float], files: Sequence[Path]) -> None:
        writer = self.new_writer(str(self.run / "tensorboard" / "decided"), purge_step=0)
        for name, value in metrics.items():
            writer.add_scalar(name, value, 0, time.time())
        for file in files:
            if file.suffix == ".json":
                writer.add_text(file.stem, f"```\n{file.read_text(encoding='utf-8')}\n```", 0)
        writer.close()


class MLflow(Tracker):
    """An MLflow run; `RUN/mlflow.txt` keeps its id."""

    def __init__(self, run: Path, uri: str) -> None:
        super().__init__(run)
        self.uri = uri
        self.note = run / "mlflow.txt"
        mlflow = _mlflow()
        self.entities = _imported("mlflow.entities", "mlflow")
        with self._refusing("expected an address such as sqlite:///runs.db"):
            self.client = mlflow.MlflowClient(tracking_uri=uri)
            name = os.environ.get("MLFLOW_EXPERIMENT_NAME", "assent")
            found = self.client.get_experiment_by_name(name)
            self.experiment = found.experiment_id if found else self.client.create_experiment(name)

    def begin(self) -> set[Spot]:
        if not self.note.exists():
            with self._refusing("cannot begin a run there"):
                self.id = self._new_run()
            return set()
        self.id = self.note.read_text(encoding="utf-8").strip()
        with self._refusing(f"for a new run there, delete {self.note}"):
            self.client.update_run(self.id, status="RUNNING")
            names = [name for values in METRICS.values() for name in values.values()]
            values = [x for name in names for x in self.client.get_metric_history(self.id, name)]
        return {(value.key, value.step) for value in values}

    def put(self, points: list[Point]) -> None:
        metric = self.entities.Metric
        values = [metric(x.metric, x.value, round(1000 * x.time), x.epoch) for x in points]
        for start in range(0, len(values), 1000):  # MLflow takes no more at a time
            self.client.log_batch(self.id, metrics=values[start : start + 1000])

    def end(self, status: str) -> None:
        self.client.set_terminated(self.id, status)

    def add(self, metrics: Mapping[str, float], files: Sequence[Path]) -> None:
        self.begin()
        with self._refusing("cannot write to the run there"):
            now = round(1000 * time.time())
            values = [self.entities.Metric(name, x, now, 0) for name, x in metrics.items()]
            self.client.log_batch(self.id, metrics=values)
            for file in files:
                self.client.log_artifact(self.id, str(file))
        self.end("FINISHED")

    def _new_run(self) -> str:
        sections = tomllib.loads((self.run / SETTINGS).read_text(encoding="utf-8"))
        name = f"{sections['model']['name']} {self.run.resolve().name}"
        id_ = str(self.client.create_run(self.experiment, run_name=name).info.run_id)
        params = [
            self.entities.Param(f"{section}.{key}", str(value))
            for section, values in sections.items()
            for key, value in values.items()
        ]
        self.client.log_batch(id_, params=params)
        with beside(self.note) as part:
            part.write_text(id_ + "\n", encoding="utf-8")
        return id_

    @contextmanager
    def _refusing(self, advice: str) -> Iterator[None]:
        """MLflow hands on whatever its stores and drivers raise."""
        try:
            yield
        except Exception as error:
            raise ConfigError(f"mlflow = {self.uri!r}: {_first_line(error)}; {advice}") from error


def _points(run: Path) -> list[Point]:
    return [
        Point(name, event["epoch"], event[key], event["time"])
        for event in read_events(run / TRACE)
        for key, name in METRICS.get(event["event"], {}).items()
    ]


def _tensorboard() -> Any:
    return _imported("torch.utils.tensorboard", "tensorboard")


def _mlflow() -> Any:
    # Values go to the address that is given and nowhere else; and a server that is away is asked
    # again after the next epoch, not for minutes while the training waits.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    return _imported("mlflow", "mlflow")


def _imported(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ConfigError(f"{error}; pip install 'assent-kb[{extra}]'") from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
