"""Searching settings: bounded, resumed after any end, and honest about what was found."""

import os
import signal
import subprocess
import sys
import time
import tomllib
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path

import pytest

import assent
import toy
from assent.errors import ConfigError, DataError
from assent.settings import model_names, resolve
from assent.training.journal import JOURNAL, Asked, Journal
from assent.training.spaces import Between, space
from assent.training.trace import read_events
from assent.verbs import search as searching
from assent.verbs.stopping import STOPS

pytest.importorskip("optuna", reason="Optuna is not installed")

SPACE = space("distmult")
QUICK = ("train.epochs=6", "train.evaluate_every=2", "train.threads=1")


class Hears(searching.Unwatched):
    def __init__(self):
        self.events = []

    def event(self, **values):
        self.events.append(values)


@pytest.fixture
def benchmark(tmp_path):
    kb = toy.crowd(0, num_entities=40, num_relations=3, facts_each=6)
    assent.save(assent.build(kb, removed=4, seed=1), tmp_path / "benchmark")
    return tmp_path / "benchmark"


@pytest.mark.parametrize("name", model_names())
def test_all_of_a_space_can_be_set(name):
    for setting, kind in space(name).items():
        for value in (kind.low, kind.high) if isinstance(kind, Between) else kind:
            written = str(value).lower() if isinstance(value, bool) else repr(value)
            resolve(name, changes=[f"{setting}={written}"])


def test_the_best_settings_make_the_best_training_again(benchmark, tmp_path):
    hears = Hears()
    found = assent.search(
        benchmark, "distmult", out=tmp_path / "s", trials=5, changes=QUICK, watcher=hears
    )
    told = [values["trial"] for values in hears.events if values["event"] == "training"]
    assert [trial.number for trial in told] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert {trial.state for trial in told[::2]} == {searching.UNDER_WAY}
    assert not {trial.state for trial in told[1::2]} & {searching.UNDER_WAY}
    assert found.trials[0].score == max(trial.score for trial in found.trials)
    done = [trial for trial in found.trials if trial.state == searching.DONE]
    again = assent.train(benchmark, "distmult", file=tmp_path / "s" / "best.toml")
    assert max(again.trained.scores) == done[0].score
    best = tomllib.loads((tmp_path / "s" / "best.toml").read_text())
    assert best["train"]["learning_rate"] == done[0].settings["train.learning_rate"]
    lines = (tmp_path / "s" / "trials.tsv").read_text().splitlines()
    assert len(lines) == 6 and lines[0].startswith("trial\tscore\tepochs\tstate\t")
    assert (tmp_path / "s" / "search.svg").read_text().startswith("<svg")


def test_bad_trainings_are_ended_early(benchmark, tmp_path):
    found = assent.search(benchmark, "transe", out=tmp_path / "s", trials=12, changes=QUICK)
    early = [trial for trial in found.trials if trial.state == searching.ENDED_EARLY]
    assert early and all(trial.epochs < 6 for trial in early)


def test_a_full_disk_is_told_with_the_folder_of_the_search(benchmark, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("assent.training.journal.Journal.begin", full)
    with pytest.raises(DataError, match="found: cannot be written: No space left on device;"):
        assent.search(benchmark, "distmult", out=tmp_path / "found", changes=QUICK)


def test_a_setting_that_is_set_is_not_searched(benchmark, tmp_path):
    fixed = (*QUICK, "model.dim=16")
    found = assent.search(benchmark, "complex", out=tmp_path / "s", trials=2, changes=fixed)
    assert "model.dim" not in found.trials[0].settings and found.settings.model.dim == 16


def test_a_search_that_was_killed_goes_on_with_the_training_under_way(benchmark, tmp_path):
    folder = tmp_path / "s"
    endless = ("train.epochs=100000", "train.evaluate_every=100000", "train.threads=1")
    words = [f"--set={change}" for change in endless]
    command = [sys.executable, "-m", "assent.cli", "search", str(benchmark), "--model", "distmult"]
    killed = subprocess.Popen(
        [*command, "--out", str(folder), "--set=train.checkpoint_minutes=0.001", *words],
        stderr=subprocess.DEVNULL,
    )
    ends = time.monotonic() + 120
    while not list(folder.glob("trials/0000/checkpoints/*")) and time.monotonic() < ends:
        time.sleep(0.1)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    journal = Journal(folder, rung=1, seed=0)
    before = journal.study.trials[0].params
    asked = journal.take_up(*journal.left(), SPACE)
    assert (asked.number, asked.trial.params) == (0, before)


def test_a_search_that_goes_on_tries_other_settings_than_before(benchmark, tmp_path):
    for trials in (2, 4, 6):
        found = assent.search(
            benchmark, "distmult", out=tmp_path / "s", trials=trials, changes=QUICK
        )
    rates = {trial.settings["train.learning_rate"] for trial in found.trials}
    assert len(found.trials) == len(rates) == 6


def test_workers_of_a_search_that_was_killed_end_by_themselves(benchmark, tmp_path):
    folder = tmp_path / "s"
    endless = ("train.epochs=100000", "train.evaluate_every=100000", "train.threads=1")
    words = [f"--set={change}" for change in (*endless, "train.checkpoint_minutes=0.001")]
    command = [sys.executable, "-m", "assent", "search", str(benchmark), "--model", "distmult"]
    killed = subprocess.Popen(
        [*command, "--workers", "2", "--out", str(folder), *words],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(lambda: len(list(folder.glob("trials/*/checkpoints/*"))) >= 2)
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
        wait_for(lambda: not members_of(killed.pid))
    finally:
        for process in members_of(killed.pid):
            os.kill(process, signal.SIGKILL)


def wait_for(happened):
    ends = time.monotonic() + 180
    while not happened():
        assert time.monotonic() < ends
        time.sleep(0.2)


def members_of(session):
    """Processes of a session that run Python still; zombies have ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, its_session = stat.read_text().rpartition(")")[2].split()[:4]
            if int(its_session) == session and state != "Z":
                found.append(int(stat.parent.name))
    return found


def test_minutes_that_end_in_a_training_leave_it_to_the_next_search(
    benchmark, tmp_path, monkeypatch
):
    class Ending(searching.Listening):
        def step(self, epoch, *rest):
            if epoch == 3:  # as if the minutes were over
                raise searching.TimeUp

    with monkeypatch.context() as patched:
        patched.setattr(searching, "Listening", Ending)
        with pytest.raises(DataError, match="no training came to its end in this time"):
            assent.search(benchmark, "distmult", out=tmp_path / "s", changes=QUICK)
    _, line = (tmp_path / "s" / "trials.tsv").read_text().splitlines()
    number, score, epochs, state, rate, *_ = line.split("\t")
    assert (number, epochs, state) == ("0", "3", searching.UNDER_WAY)
    assert float(score) >= 0 and float(rate) == resolve("distmult").train.learning_rate
    found = assent.search(benchmark, "distmult", out=tmp_path / "s", trials=1, changes=QUICK)
    assert [trial.number for trial in found.trials] == [0]
    events = read_events(tmp_path / "s" / "trials" / "0000" / "trace.jsonl")
    assert [event["event"] for event in events].count("start") == 1
    (taken_up,) = (event for event in events if event["event"] == "resume")
    assert (taken_up["epoch"], taken_up["step"]) == (3, 1)  # no step was lost
    assert events[-1]["event"] == "end"


def test_a_search_whose_trainings_all_ended_early_says_how_to_go_on(
    benchmark, tmp_path, monkeypatch
):
    with monkeypatch.context() as patched:
        patched.setattr(Asked, "is_behind", lambda self: True)
        for _ in range(2):
            with pytest.raises(DataError, match="--trials 1 allows no more; --trials 2 begins"):
                assent.search(benchmark, "distmult", out=tmp_path / "s", trials=1, changes=QUICK)
    found = assent.search(benchmark, "distmult", out=tmp_path / "s", trials=2, changes=QUICK)
    assert [trial.state for trial in found.trials].count(searching.DONE) == 1


def test_a_training_under_way_comes_to_its_end_however_many_ended_early(
    benchmark, tmp_path, monkeypatch
):
    with monkeypatch.context() as patched:
        patched.setattr(Asked, "is_behind", lambda self: True)
        with pytest.raises(DataError):
            assent.search(benchmark, "distmult", out=tmp_path / "s", trials=1, changes=QUICK)
    Journal(tmp_path / "s", rung=6, seed=0).ask(SPACE)  # of another worker, that was killed
    found = assent.search(benchmark, "distmult", out=tmp_path / "s", trials=1, changes=QUICK)
    assert {trial.number: trial.state for trial in found.trials} == {
        0: searching.ENDED_EARLY,
        1: searching.DONE,
    }


def test_a_training_that_gets_worse_is_no_rival_of_itself_when_it_was_killed(
    benchmark, tmp_path, monkeypatch
):
    """Killed after its 4th evaluation, taken up there; each evaluation finds less than before."""

    class Killed(Hears):
        def event(self, **values):
            super().event(**values)
            if values["event"] == "epoch" and values["epoch"] == 9:
                raise SystemExit

    falling = (1 / number for number in count(1))
    monkeypatch.setitem(STOPS, "f1", lambda *_: lambda model: next(falling))
    changes = ["train.epochs=20", "train.evaluate_every=2", "train.threads=1"]
    changes += ["train.schedule=constant", "train.patience=50", "train.checkpoint_minutes=0"]
    search = partial(
        assent.search, benchmark, "transe", out=tmp_path / "s", trials=1, changes=changes
    )
    with pytest.raises(SystemExit):
        search(watcher=Killed())
    (found,) = search().trials
    assert (found.state, found.epochs, found.score) == (searching.DONE, 20, 1.0)


@pytest.mark.parametrize(
    ("epochs", "every", "schedule"),
    [(6, 2, "one-cycle"), (20, 3, "one-cycle"), (20, 30, "constant")],
)
def test_bad_trainings_end_at_the_first_evaluation_and_not_before(
    benchmark, tmp_path, epochs, every, schedule
):
    changes = [f"train.epochs={epochs}", f"train.evaluate_every={every}", "model.dim=8"]
    changes += [f"train.schedule={schedule}", "train.threads=1"]
    hears = Hears()
    assent.train(benchmark, "distmult", changes=changes, watcher=hears)
    heard = [values["epoch"] for values in hears.events if values["event"] == "evaluation"]
    settings = resolve("distmult", changes=changes)
    assert searching.first_evaluation(settings, assent.load(benchmark)) == heard[0]


def test_the_first_training_has_the_settings_that_the_model_has_anyway(benchmark, tmp_path):
    found = assent.search(benchmark, "region", out=tmp_path / "s", trials=2, changes=QUICK)
    first, other = sorted(found.trials, key=lambda trial: trial.number)
    has = resolve("region", changes=QUICK).sections()
    for name, value in first.settings.items():
        section, _, key = name.partition(".")
        assert value == has[section][key], name
    assert other.settings != first.settings


def test_what_a_space_has_not_is_not_asked_for():
    has = searching.usual("transr", ("model.query_dropout=0.1",))
    assert "model.dim" not in has and "model.query_dropout" not in has
    assert has["train.learning_rate"] == resolve("transr").train.learning_rate


def test_several_processes_share_a_search(benchmark, tmp_path):
    found = assent.search(
        benchmark, "distmult", out=tmp_path / "s", trials=4, workers=2, changes=QUICK
    )
    assert len(found.trials) >= 4
    assert len({trial.number for trial in found.trials}) == len(found.trials)


def test_what_cannot_be_searched_is_refused(benchmark, tmp_path):
    with pytest.raises(ConfigError, match="unknown model 'complx'"):
        assent.search(benchmark, "complx", out=tmp_path / "s")
    with pytest.raises(ConfigError, match="must be more than 0"):
        assent.search(benchmark, "complex", out=tmp_path / "s", minutes=0)
    with pytest.raises(ConfigError, match="is there already, and no search"):
        assent.search(benchmark, "complex", out=benchmark)
    assent.search(benchmark, "distmult", out=tmp_path / "s", trials=1, changes=QUICK)
    with pytest.raises(ConfigError, match="has another search"):
        assent.search(benchmark, "complex", out=tmp_path / "s", trials=1, changes=QUICK)
    with pytest.raises(ConfigError, match="measures nothing to compare by"):
        assent.search(benchmark, "rules", out=tmp_path / "t", changes=["train.evaluate_every=0"])
    everything = [f"{name}=0.1" for name in space("rules")]
    with pytest.raises(ConfigError, match="leave some open"):
        assent.search(benchmark, "rules", out=tmp_path / "t", changes=everything)


@pytest.fixture
def journal(tmp_path):
    (tmp_path / "s").mkdir()
    return Journal(tmp_path / "s", rung=1, seed=0)


def test_taking_up_a_training_may_be_killed_too(journal):
    killed = journal.ask(SPACE)
    for _ in range(2):
        journal.begin({})
        again = journal.take_up(*journal.left(), SPACE)
        assert (again.number, again.trial.params) == (killed.number, killed.trial.params)
    assert journal.num_begun() == 1


def test_a_training_that_is_taken_up_is_not_compared_with_itself(journal):
    """Evaluated after epochs 3 and 6, killed, and taken up from a checkpoint before both."""
    killed = journal.ask(SPACE)
    for epoch, score in ((3, 0.3), (6, 0.6)):
        killed.report(score, epoch)
        assert not killed.is_behind()
    again = journal.take_up(*journal.left(), SPACE)
    assert again.scores == {3: 0.3, 6: 0.6}
    for epoch, score in ((3, 0.3), (6, 0.6), (9, 0.2), (12, 0.1)):  # it gets worse by itself
        again.report(score, epoch)
        assert not again.is_behind()
    again.ended(0.6, 12, early=False)
    (known,) = journal.study.trials
    assert known.intermediate_values == {3: 0.3, 6: 0.6, 9: 0.2, 12: 0.1}


def test_rungs_compare_a_training_that_is_taken_up_at_the_epochs_of_the_others(journal):
    """All are judged at epochs 1 and 3, also where one is taken up between them."""
    for score in (0.5, 0.6, 0.7):
        other = journal.ask(SPACE)
        for epoch in (1, 3):
            other.report(score, epoch)
            other.is_behind()
        other.ended(score, 3, early=False)
    killed = journal.ask(SPACE)
    killed.report(0.8, 1)
    assert not killed.is_behind()
    again = journal.take_up(*journal.left(), SPACE)
    for epoch, score, behind in ((1, 0.8, False), (2, 0.1, False), (3, 0.2, True)):
        again.report(score, epoch)
        assert again.is_behind() is behind


def test_folders_are_numbered_without_gaps_whatever_was_taken_up(journal):
    numbers = []
    for _ in range(3):
        numbers.append(journal.ask(SPACE).number)  # and killed
        again = journal.take_up(*journal.left(), SPACE)
        numbers.append(again.number)
        again.ended(0.5, 1, early=False)
    assert numbers == [0, 0, 1, 1, 2, 2]
    folders = journal.trials_folder.iterdir()
    assert sorted(folder.name for folder in folders) == ["0000", "0001", "0002"]


def test_a_search_of_before_folders_had_numbers_of_their_own_goes_on(journal):
    done, killed = journal.study.ask(), journal.study.ask()
    for trial in (done, killed):
        trial.set_user_attr("folder", trial.number)
    journal.study.tell(done, 0.5)
    again, other = journal.take_up(*journal.left(), SPACE), journal.ask(SPACE)
    assert [again.number, other.number] == [1, 2]


def test_a_training_taken_up_and_killed_before_it_has_its_settings_keeps_them(journal):
    journal.begin({"train.learning_rate": 0.003})
    some = dict(list(SPACE.items())[1:3])
    drawn = journal.ask(some).settings  # and killed
    assert drawn.keys() == some.keys()
    assert journal.take_up(0, SPACE).settings.items() > drawn.items()
    assert journal.take_up(0, SPACE).settings["train.learning_rate"] == 0.003


def test_what_a_killed_search_left_does_not_hold_up_the_next(benchmark, tmp_path):
    folder = tmp_path / "s"
    (folder / ".search.json.abcdefgh.assent.part").mkdir(parents=True)
    assent.search(benchmark, "distmult", out=folder, trials=1, changes=QUICK)
    journal = folder / JOURNAL
    Path(f"{journal}.lock").symlink_to(journal)  # of a version that locked by it
    with journal.open("ab") as file:
        file.write(b'{"op_code":4,"worker')
    start = time.monotonic()
    found = assent.search(benchmark, "distmult", out=folder, trials=2, changes=QUICK)
    assert len(found.trials) == 2 and time.monotonic() - start < 25
    assert not list(folder.rglob("*.part"))


def test_a_training_that_is_taken_up_and_ended_early_leaves_nothing(benchmark, tmp_path):
    class Ends(searching.Unwatched):
        def event(self, **values):
            if values["event"] == "evaluation":
                raise KeyboardInterrupt

    run, changes = tmp_path / "run", [*QUICK, "train.checkpoint_minutes=60"]
    left = run / "checkpoints" / ".00002-0000000.json.abcdefgh.assent.part"
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            assent.train(benchmark, "distmult", out=run, changes=changes, watcher=Ends())
        if not left.parent.exists():
            left.mkdir(parents=True)
    assert not left.exists()
