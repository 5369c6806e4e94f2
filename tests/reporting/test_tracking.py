"""TensorBoard and MLflow show each epoch once, however often a training was stopped."""

import json
import sys
from types import ModuleType, SimpleNamespace

import pytest
from typer.testing import CliRunner

import assent
import toy
from assent.cli import app
from assent.errors import ConfigError, StoppedError
from assent.reporting.progress import Together, Unwatched
from assent.reporting.tracking import METRICS, metrics_of, track, tracking

EPOCHS = 6
CHANGES = [
    f"train.epochs={EPOCHS}", "train.batch_size=8", "train.evaluate_every=2", "train.patience=9",
    "model.dim=8", "train.checkpoint_minutes=0",
]  # fmt: skip
EVERY_EPOCH, EVERY_SECOND = [1, 2, 3, 4, 5, 6], [2, 4, 6]
STEPS = {"loss": EVERY_EPOCH, "queries_per_second": EVERY_EPOCH, "valid_score": EVERY_SECOND}


class FailsAfter(Unwatched):
    """Ends the training when an epoch was told."""

    def __init__(self, epoch, error):
        self.epoch, self.error = epoch, error

    def event(self, **values):
        if values["event"] == "epoch" and values["epoch"] == self.epoch:
            raise self.error


class Board:
    """Remembers what a SummaryWriter is given, and forgets what it is told to purge."""

    folders: dict[str, dict] = {}  # noqa: RUF012

    def __init__(self, folder, purge_step):
        self.points = self.folders.setdefault(folder, {})
        for key in [key for key in self.points if key[1] >= purge_step]:
            del self.points[key]

    def add_scalar(self, name, value, step, time):
        assert (name, step) not in self.points
        self.points[name, step] = value

    def add_text(self, name, text, step):
        self.points[name, step] = text

    def flush(self): ...

    def close(self): ...


class Server:
    """An MLflow server in memory, which can be away."""

    def __init__(self):
        self.experiments, self.runs, self.away = {}, {}, False

    def MlflowClient(self, tracking_uri):  # noqa: N802
        if tracking_uri == "nowhere":
            raise OSError("no such server\nand more about it")
        return self

    def get_experiment_by_name(self, name):
        found = self.experiments.get(name)
        return found and SimpleNamespace(experiment_id=found)

    def create_experiment(self, name):
        return self.experiments.setdefault(name, f"experiment {len(self.experiments)}")

    def create_run(self, experiment, run_name):
        run = SimpleNamespace(name=run_name, metrics=[], params={}, status="RUNNING")
        self.runs[f"run {len(self.runs)}"] = run
        return SimpleNamespace(info=SimpleNamespace(run_id=list(self.runs)[-1]))

    def update_run(self, run, status):
        self.runs[run].status = status

    set_terminated = update_run

    def log_artifact(self, run, path):
        self.runs[run].files = [*getattr(self.runs[run], "files", []), path]

    def get_metric_history(self, run, name):
        return [metric for metric in self.runs[run].metrics if metric.key == name]

    def log_batch(self, run, metrics=(), params=()):
        if self.away:
            raise OSError("the server is away")
        self.runs[run].metrics += metrics
        self.runs[run].params |= dict(params)


@pytest.fixture
def board(monkeypatch):
    monkeypatch.setattr(Board, "folders", {})
    fake = ModuleType("torch.utils.tensorboard")
    fake.SummaryWriter = Board
    monkeypatch.setitem(sys.modules, fake.__name__, fake)
    return Board.folders


@pytest.fixture
def calm(monkeypatch):
    """What MLflow takes from the environment, put back afterwards."""
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)


@pytest.fixture
def server(monkeypatch, calm):
    server = Server()
    entities = ModuleType("mlflow.entities")
    entities.Param = lambda key, value: (key, value)
    entities.Metric = lambda key, value, timestamp, step: SimpleNamespace(
        key=key, value=value, timestamp=timestamp, step=step
    )
    monkeypatch.setitem(sys.modules, "mlflow", server)
    monkeypatch.setitem(sys.modules, "mlflow.entities", entities)
    return server


def train(folder, *more, out=None, **where):
    with tracking(folder, **where) as trackers:
        watcher = Together(trackers, *more)
        return assent.train(
            BENCHMARK, "distmult", out=out or folder, changes=CHANGES, watcher=watcher
        )


BENCHMARK = assent.build(toy.whole())


def steps(points):
    """Metric -> the epochs that it has values of, in order of their arrival."""
    found = {name: [] for values in METRICS.values() for name in values.values()}
    for name, epoch in points:
        found[name].append(epoch)
    return found


def test_both_show_every_epoch_and_evaluation(tmp_path, board, server):
    run = train(tmp_path / "first", tensorboard=True, mlflow="memory")
    points = board[str(tmp_path / "first" / "tensorboard")]
    (shown,) = server.runs.values()
    assert steps(points) == steps((m.key, m.step) for m in shown.metrics) == STEPS
    assert [points["valid_score", n] for n in EVERY_SECOND] == list(run.trained.scores)
    assert shown.name == "distmult first" and shown.status == "FINISHED"
    assert shown.params["train.epochs"] == "6" and shown.params["model.dim"] == "8"
    assert shown.params["benchmark.sha256"] == BENCHMARK.digest()


@pytest.mark.parametrize(
    ("error", "status"), [(StoppedError("enough"), "KILLED"), (RuntimeError("cut"), "FAILED")]
)
def test_a_resumed_training_goes_on_in_the_same_run(tmp_path, board, server, error, status):
    with pytest.raises(type(error)):
        train(tmp_path, FailsAfter(4, error), tensorboard=True, mlflow="memory")
    (shown,) = server.runs.values()
    assert shown.status == status
    train(tmp_path, tensorboard=True, mlflow="memory")
    assert list(server.runs.values()) == [shown] and shown.status == "FINISHED"
    assert steps((m.key, m.step) for m in shown.metrics) == STEPS
    assert steps(board[str(tmp_path / "tensorboard")]) == STEPS


def test_tracking_that_begins_late_shows_what_was_before(tmp_path, board, server):
    with pytest.raises(RuntimeError):
        train(tmp_path, FailsAfter(4, RuntimeError("cut")))
    assert not board and not server.runs
    train(tmp_path, tensorboard=True, mlflow="memory")
    (shown,) = server.runs.values()
    assert steps((m.key, m.step) for m in shown.metrics) == STEPS
    assert steps(board[str(tmp_path / "tensorboard")]) == STEPS


def test_a_server_that_was_away_ends_no_training_and_gets_it_all(tmp_path, server):
    class Away(Unwatched):
        def event(self, **values):
            server.away = values.get("epoch") in (2, 3)

    with pytest.warns(UserWarning, match="not in MLflow yet: the server is away"):
        run = train(tmp_path, Away(), mlflow="memory")
    (shown,) = server.runs.values()
    assert run.trained.epochs == EPOCHS
    assert steps((m.key, m.step) for m in shown.metrics) == STEPS


def test_an_address_that_leads_nowhere_is_refused_in_one_line_before_training(tmp_path, server):
    with pytest.raises(ConfigError, match=r"'nowhere': no such server; .*sqlite:///runs.db$"):
        train(tmp_path / "run", mlflow="nowhere")
    assert not (tmp_path / "run").exists()


def test_a_run_that_is_not_at_this_address_is_named(tmp_path, server):
    train(tmp_path, mlflow="memory")
    server.runs.clear()
    with pytest.raises(ConfigError, match=r"for a new run there, delete .*mlflow\.txt"):
        train(tmp_path, mlflow="memory")


def test_a_folder_other_than_that_of_the_run_is_refused(tmp_path, board):
    with pytest.raises(ConfigError, match="no run to track"):
        train(tmp_path / "one", out=tmp_path / "other", tensorboard=True)


@pytest.mark.parametrize(
    ("where", "module"),
    [({"tensorboard": True}, "torch.utils.tensorboard"), ({"mlflow": "memory"}, "mlflow")],
)
def test_a_missing_package_is_told_by_its_extra(tmp_path, monkeypatch, calm, where, module):
    monkeypatch.setitem(sys.modules, module, None)
    (extra,) = where
    with pytest.raises(ConfigError, match=rf"pip install 'assent-kb\[{extra}\]'$"):
        train(tmp_path / "run", **where)
    assert not (tmp_path / "run").exists()


@pytest.mark.filterwarnings("ignore")  # of what TensorBoard imports
def test_tensorboard_itself_reads_each_epoch_once(tmp_path):
    pytest.importorskip("tensorboard", reason="pip install 'assent-kb[tensorboard]'")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with pytest.raises(RuntimeError):
        train(tmp_path, FailsAfter(4, RuntimeError("cut")), tensorboard=True)
    train(tmp_path, tensorboard=True)
    read = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert {name: [x.step for x in read.Scalars(name)] for name in read.Tags()["scalars"]} == STEPS


@pytest.mark.filterwarnings("ignore")  # of what MLflow imports
def test_mlflow_itself_keeps_one_run_in_a_database(tmp_path, calm):
    mlflow = pytest.importorskip("mlflow", reason="pip install 'assent-kb[mlflow]'")
    address = f"sqlite:///{tmp_path / 'runs.db'}"
    run = tmp_path / "run"
    with pytest.raises(StoppedError):
        train(run, FailsAfter(4, StoppedError("enough")), mlflow=address)
    train(run, mlflow=address)
    client = mlflow.MlflowClient(address)
    experiment = client.get_experiment_by_name("assent").experiment_id
    (shown,) = client.search_runs([experiment])
    assert (shown.info.run_name, shown.info.status) == ("distmult run", "FINISHED")
    assert shown.data.params["train.epochs"] == "6"
    for name, epochs in STEPS.items():
        assert [x.step for x in client.get_metric_history(shown.info.run_id, name)] == epochs


def test_what_comes_after_the_training_is_in_the_same_run(tmp_path, board, server):
    run = train(tmp_path / "run", tensorboard=True, mlflow="memory")
    decider = assent.tune(run)
    assent.save(decider, tmp_path / "run", of=run)
    found = assent.evaluate(run, decider)
    file = tmp_path / "run" / "decider.json"
    where = {"tensorboard": True, "mlflow": "memory"}
    track(tmp_path / "run", [file], {**metrics_of(found), "none": float("nan")}, **where)
    (shown,) = server.runs.values()
    assert shown.files == [str(file)] and shown.status == "FINISHED"
    told = {metric.key: metric.value for metric in shown.metrics if metric.step == 0}
    assert told == metrics_of(found) and told["test.f1.all"] == found.f1()
    points = board[str(tmp_path / "run" / "tensorboard" / "decided")]
    assert points["test.mrr", 0] == found.mrr and "per-relation" in points["decider", 0]
    assert steps(board[str(tmp_path / "run" / "tensorboard")]) == STEPS


def test_a_server_that_is_away_ends_no_command_and_is_told_after_what_was_found(tmp_path, server):
    """`evaluate --json` prints its one object, which it would not if it ended in an error."""
    run = train(tmp_path / "run", mlflow="memory")
    assent.save(run.benchmark, tmp_path / "benchmark")
    where = ["--benchmark", str(tmp_path / "benchmark")]
    for command in ("tune", "evaluate"):
        for address, words in (("nowhere", "no such server"), ("memory", "the server is away")):
            server.away = address == "memory"
            told = [command, str(tmp_path / "run"), *where, "--json", "--mlflow", address]
            with pytest.warns(UserWarning, match=f"not tracked: .*{words}.*tells it again$"):
                done = CliRunner().invoke(app, told)
            assert done.exit_code == 0 and json.loads(done.stdout)
    (shown,) = server.runs.values()
    assert not hasattr(shown, "files")


def test_a_package_that_is_missing_is_told_before_a_command_begins(tmp_path, monkeypatch, calm):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    (tmp_path / "settings.toml").touch()
    for command in ("tune", "evaluate", "report"):
        done = CliRunner().invoke(app, [command, str(tmp_path), "--mlflow", "memory"])
        assert "assent-kb[mlflow]" in str(done.exception)
