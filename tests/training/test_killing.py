"""`assent train`, killed at random moments, ends with the weights of one that was never stopped."""

import random
import shutil
import signal
import subprocess
import sys
import time

import pytest
import torch
from safetensors.torch import load_file

import assent
from assent.datasets import located
from assent.files.runs import training_in

SETTINGS = ("train.epochs=3", "train.batch_size=256", "model.dim=16", "train.threads=1")


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world") / "benchmark"
    assent.save(assent.build(assent.read(located("world"))), folder)
    return folder


def command(benchmark, run, *more):
    """A checkpoint after every step, so that there is always something to lose."""
    changes = [f"--set={change}" for change in (*SETTINGS, "train.checkpoint_minutes=0", *more)]
    words = ["train", benchmark, "--model", "complex", "--out", run, *changes]
    return [sys.executable, "-m", "assent.cli", *map(str, words)]


def run_to_the_end(benchmark, run, *more, code=0):
    done = subprocess.run(
        command(benchmark, run, *more), capture_output=True, text=True, timeout=240
    )
    assert done.returncode == code, done.stderr
    return done


def stop(benchmark, run, number, wait, *more):
    """Starts training and sends a signal some time after a new checkpoint appeared."""
    before = set(run.glob("checkpoints/*.json"))
    process = subprocess.Popen(
        command(benchmark, run, *more), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 120
        while not set(run.glob("checkpoints/*.json")) - before:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(wait)
        process.send_signal(number)
        return process.wait(timeout=60)
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def unstopped(benchmark, tmp_path_factory):
    run = tmp_path_factory.mktemp("runs") / "unstopped"
    run_to_the_end(benchmark, run)
    return run


def same(one, other):
    first, second = (load_file(run / "model.safetensors") for run in (one, other))
    return first.keys() == second.keys() and all(
        torch.equal(first[name], second[name]) for name in first
    )


def test_killed_at_random_moments_it_ends_with_the_same_bits(benchmark, unstopped, tmp_path):
    run = tmp_path / "run"
    chance = random.Random(7)
    for _ in range(3):
        stop(benchmark, run, signal.SIGKILL, chance.uniform(0, 0.3))
    run_to_the_end(benchmark, run)
    assert same(unstopped, run)
    assert not list(run.rglob("*.part"))


def test_with_drawn_candidates_too(benchmark, tmp_path):
    """A checkpoint has rows that are behind, and they go on from there."""
    drawn = ("train.candidates=200", "model.members=2")
    run_to_the_end(benchmark, tmp_path / "unstopped", *drawn)
    run, chance = tmp_path / "run", random.Random(8)
    for _ in range(2):
        stop(benchmark, run, signal.SIGKILL, chance.uniform(0, 0.3), *drawn)
    run_to_the_end(benchmark, run, *drawn)
    assert same(tmp_path / "unstopped", run)


def test_asked_to_stop_it_says_how_to_go_on(benchmark, unstopped, tmp_path):
    run = tmp_path / "run"
    assert stop(benchmark, run, signal.SIGTERM, 0.05) in (128 + signal.SIGTERM, 0)
    run_to_the_end(benchmark, run)
    assert same(unstopped, run)


def test_a_run_of_other_settings_or_of_another_benchmark_is_refused(benchmark, unstopped, tmp_path):
    refused = run_to_the_end(benchmark, unstopped, "train.seed=4", code=2)
    assert "this run has train.seed = 0, not 4" in refused.stderr
    other = tmp_path / "other"
    assent.save(assent.build(assent.read(located("world")), seed=1), other)
    assert "choose another folder" in run_to_the_end(other, unstopped, code=2).stderr


def test_a_run_from_before_a_setting_existed_has_its_default(benchmark, unstopped, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(unstopped, run)
    settings = run / "settings.toml"
    lines = settings.read_text(encoding="utf-8").splitlines(keepends=True)
    settings.write_text("".join(line for line in lines if "members" not in line), encoding="utf-8")
    (run / "checksums.json").unlink()  # checksums did not exist then, either
    run_to_the_end(benchmark, run)
    refused = run_to_the_end(benchmark, run, "model.members=2", code=2)
    assert "this run has model.members = 1, not 2" in refused.stderr


def test_a_run_that_is_being_trained_is_left_alone(benchmark, unstopped):
    with training_in(unstopped):
        refused = run_to_the_end(benchmark, unstopped, code=2)
    assert "is being trained by another process" in refused.stderr
    run_to_the_end(benchmark, unstopped)


def test_a_folder_that_is_no_run_is_left_alone(benchmark, tmp_path):
    (tmp_path / "letter.txt").write_text("dear", encoding="utf-8")
    refused = run_to_the_end(benchmark, tmp_path, code=2)
    assert "is there already and is no run" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_run_folder_holds_what_the_documents_say_and_a_finished_run_stays(benchmark, unstopped):
    weights = (unstopped / "model.safetensors").read_bytes()
    done = run_to_the_end(benchmark, unstopped)
    assert (unstopped / "model.safetensors").read_bytes() == weights
    assert {path.name for path in unstopped.iterdir()} == {
        "settings.toml",
        "trace.jsonl",
        "model.safetensors",
        "entities.tsv",
        "relations.tsv",
        "checkpoints",
        "checksums.json",
        "benchmark.path",
    }
    assert f"run: {unstopped}" in done.stdout and "f1 on valid" in done.stdout
    assert "done after 3 epochs" in done.stderr


def test_a_run_loads_with_its_benchmark_and_scores_as_it_did(benchmark, unstopped, tmp_path):
    run = assent.load_run(unstopped)
    weights = load_file(unstopped / "model.safetensors")
    assert all(torch.equal(run.model.state_dict()[name], weights[name]) for name in weights)
    assert run.benchmark.digest() == assent.load(benchmark).digest()
    queries = torch.tensor([0, 1]), torch.tensor([0, 1])
    again = assent.load_run(unstopped)
    assert torch.equal(run.model.scores(*queries), again.model.scores(*queries))
    assert run.trained.epochs == 3 and len(run.trained.scores) == 1


def test_a_run_without_weights_says_so(unstopped, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    for name in ("settings.toml", "benchmark.path"):
        shutil.copy(unstopped / name, run / name)
    with pytest.raises(assent.AssentError, match="train the run to its end first"):
        assent.load_run(run)
    with pytest.raises(assent.AssentError, match="no such folder"):
        assent.load_run(tmp_path / "absent")
