"""Runs that bend: resumed with other threads, used before they have ended."""

import json

import numpy as np
import pytest
import torch
from rich.console import Console

import assent
import toy
from assent.errors import ConfigError, DataError
from assent.files.runs import WEIGHTS
from assent.reporting.progress import Lines
from assent.training.checkpoints import best_so_far
from assent.verbs.deciders import load_decider, save_decider

QUICK = ("model.dim=8", "train.epochs=4", "train.evaluate_every=1", "train.checkpoint_minutes=0")


class StopsAfter:
    """A watcher that ends the training after so many evaluations."""

    def __init__(self, evaluations):
        self.left = evaluations

    def step(self, *values):
        if not self.left:
            raise KeyboardInterrupt

    def event(self, **values):
        self.left -= values["event"] == "evaluation"


@pytest.fixture
def benchmark(tmp_path):
    kb = toy.crowd(0, num_entities=40, num_relations=3, facts_each=6)
    assent.save(toy.built(kb), tmp_path / "benchmark")
    return tmp_path / "benchmark"


@pytest.fixture
def unfinished(benchmark, tmp_path):
    """The folder of a run that was stopped after two of its four epochs."""
    with pytest.raises(KeyboardInterrupt):
        train(benchmark, tmp_path / "run", watcher=StopsAfter(2))
    return tmp_path / "run"


def train(benchmark, out, *changes, watcher=None):
    words = (*QUICK, "train.threads=1", *changes)
    return assent.train(benchmark, "complex", out=out, changes=words, watcher=watcher)


def events(folder):
    return [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]


def test_what_does_not_change_the_model_may_change_when_a_run_is_resumed(benchmark, unfinished):
    before = torch.get_num_threads()
    run = train(benchmark, unfinished, "train.threads=2", "train.slice_size=16")
    torch.set_num_threads(before)
    assert run.trained.epochs == 4
    assert (run.settings.train.threads, run.settings.train.slice_size) == (2, 16)
    assert assent.load_run(unfinished).settings == run.settings
    (told,) = [event for event in events(unfinished) if event["event"] == "changed"]
    assert told["settings"]["threads"] == {"was": 1, "is": 2} and told["equal_bits"] is False


def test_people_are_told_what_changed():
    event = {"event": "changed", "settings": {"threads": {"was": 1, "is": 2}}, "equal_bits": False}
    words = Lines(Console()).in_words(event)
    assert words == "changed: threads 1 to 2; the last bits may differ from before"


def test_what_changes_the_model_may_not_change(benchmark, unfinished):
    with pytest.raises(DataError, match=r"train\.epochs = 4, not 5; choose another folder"):
        train(benchmark, unfinished, "train.epochs=5")
    with pytest.raises(DataError, match=r"model\.dim = 8, not 16"):
        train(benchmark, unfinished, "model.dim=16")


def test_a_run_resumed_as_it_was_tells_of_no_change(benchmark, unfinished):
    train(benchmark, unfinished)
    assert "changed" not in [event["event"] for event in events(unfinished)]


def test_a_run_that_has_not_ended_says_how_it_can_be_used(unfinished):
    with pytest.raises(DataError, match="train the run to its end first, or say --unfinished"):
        assent.load_run(unfinished)


def test_the_best_weights_so_far_can_be_tuned_and_evaluated(unfinished):
    run = assent.load_run(unfinished, unfinished=True)
    position, weights = best_so_far(unfinished)
    assert run.trained.scores == tuple(position.scores) and len(run.trained.scores) == 2
    assert run.trained.best_epoch == 1 + int(np.argmax(position.scores))
    for name, tensor in run.model.state_dict().items():
        assert torch.equal(tensor, weights[name])
    assert 0 <= assent.evaluate(run, assent.tune(run, "global")).f1() <= 1


def test_a_run_that_has_ended_is_the_same_with_and_without_unfinished(benchmark, tmp_path):
    train(benchmark, tmp_path / "run")
    one, two = (assent.load_run(tmp_path / "run", unfinished=flag) for flag in (False, True))
    assert one.trained == two.trained
    assert one.model.digest() == two.model.digest()


def test_a_run_without_any_evaluation_yet_cannot_be_used(unfinished):
    for file in (unfinished / "checkpoints").iterdir():
        file.unlink()
    assert not (unfinished / WEIGHTS).exists()
    with pytest.raises(DataError, match="nothing was evaluated and saved yet"):
        assent.load_run(unfinished, unfinished=True)


def test_training_stops_on_nothing_that_is_not_in_the_table(benchmark, tmp_path):
    with pytest.raises(ConfigError, match=r"train\.stop_on 'luck'.*f1"):
        train(benchmark, tmp_path / "run", "train.stop_on=luck")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "change",
    ["train.device=foo", "train.device=cuda:99", "train.threads=100000", "train.threads=1024",
     "train.candidates=nan",
     "train.checkpoint_minutes=nan"],
)  # fmt: skip
def test_what_cannot_be_trained_with_is_refused_before_a_folder_is_made(
    benchmark, tmp_path, change
):
    with pytest.raises(ConfigError, match=change.partition("=")[0].partition(".")[2]):
        train(benchmark, tmp_path / "run", change)
    assert not (tmp_path / "run").exists()


def test_a_file_is_no_folder_to_train_in(benchmark, tmp_path):
    (tmp_path / "run").write_text("mine")
    with pytest.raises(DataError, match="is there already and is no run"):
        train(benchmark, tmp_path / "run")
    assert (tmp_path / "run").read_text() == "mine"


def test_a_decider_is_not_written_over_its_own_trees(unfinished, tmp_path):
    run = assent.load_run(unfinished, unfinished=True)
    with pytest.raises(ConfigError, match="choose another"):
        assent.save_decider(assent.tune(run, "global"), tmp_path / "d.npz", run.benchmark)


def test_commands_that_load_a_run_take_one_that_has_not_ended(unfinished, say, tmp_path):
    assert say("tune", unfinished, "--unfinished")[0] == 0
    for words in (["evaluate"], ["pairs"], ["report", "--out", tmp_path / "r.html"]):
        code, _, complaint = say(words[0], unfinished, "--unfinished", *words[1:])
        assert code == 0, complaint


def test_a_decider_of_another_model_is_refused(benchmark, tmp_path):
    """Thresholds are compared with scores, and those of another model lie elsewhere."""
    folders = [tmp_path / "one", tmp_path / "other"]
    runs = [
        train(benchmark, folder, f"train.seed={seed}") for seed, folder in enumerate(folders, 1)
    ]
    file = save_decider(assent.tune(runs[0], "global"), folders[0], runs[0].benchmark)
    assert load_decider(file, runs[0]).rule == "global"
    with pytest.raises(DataError, match="found for another model, whose scores differ"):
        load_decider(file, runs[1])
    document = json.loads(file.read_text())
    del document["found"]["model"], document["checksum"]  # as versions before 0.2 wrote it
    file.write_text(json.dumps(document))
    assert load_decider(file, runs[1]).rule == "global"
