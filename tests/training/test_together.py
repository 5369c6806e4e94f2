"""`assent train --workers`: as one process, through every kill, on any number of processes."""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import assent
from assent.datasets import located
from assent.geometry.peers import LOST
from assent.training.launching import KILLED

SETTINGS = (
    *("train.epochs=3", "train.batch_size=256", "model.dim=16", "train.candidates=200"),
    *("train.evaluate_every=1", "train.checkpoint_minutes=0", "train.threads=1"),
)
TORCHRUN = ("-m", "torch.distributed.run", "--standalone")


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world") / "benchmark"
    assent.save(assent.build(assent.read(located("world"))), folder)
    return folder


def command(benchmark, run, size, *more, model="complex", torchrun=False):
    words = ["train", benchmark, "--model", model, "--out", run, *more]
    fitting = [x for x in SETTINGS if model != "rules" or not x.startswith("model.")]
    words += [f"--set={change}" for change in fitting]
    if torchrun:
        started = [sys.executable, *TORCHRUN, f"--nproc-per-node={size}", "-m", "assent"]
    else:
        started, words = [sys.executable, "-m", "assent"], [*words, "--workers", size]
    return [*started, *map(str, words)]


def run_to_the_end(benchmark, run, size, *more, code=0, **options):
    words = command(benchmark, run, size, *more, **options)
    done = subprocess.run(words, capture_output=True, text=True, timeout=240)
    assert done.returncode == code, done.stderr
    return done


def stop(benchmark, run, size, number, place, wait, **options):
    """Sends a signal to one of the processes, some time after a new checkpoint appeared."""
    before = set(run.glob("checkpoints/*.json"))
    words = command(benchmark, run, size, **options)
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not set(run.glob("checkpoints/*.json")) - before:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    time.sleep(wait)
    everyone = [process.pid, *children(process.pid)]
    os.kill(everyone[place], number)
    _, said = process.communicate(timeout=60)
    while any(Path(f"/proc/{pid}").exists() for pid in everyone):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process.returncode, re.findall(r"^assent: .*", said, re.MULTILINE)


def children(pid):
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return sorted(map(int, found))


@pytest.fixture(scope="module")
def runs(benchmark, tmp_path_factory):
    """The same training by one process and by two."""
    found = {size: tmp_path_factory.mktemp("runs") / str(size) for size in (1, 2)}
    for size, run in found.items():
        run_to_the_end(benchmark, run, size)
    return found


def weights(run):
    return load_file(run / "model.safetensors")


def same(one, other):
    first, second = weights(one), weights(other)
    return first.keys() == second.keys() and all(
        torch.equal(first[name], second[name]) for name in first
    )


def alike(one, other):
    first, second = weights(one), weights(other)
    assert first.keys() == second.keys()
    for name, mine in first.items():
        torch.testing.assert_close(mine, second[name], rtol=1e-3, atol=1e-4)


def events(run, kind):
    lines = (run / "trace.jsonl").read_text(encoding="utf-8").splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == kind]


def test_two_processes_make_the_run_that_one_makes(runs, tmp_path):
    alike(runs[1], runs[2])
    for kind, number in (("epoch", "loss"), ("evaluation", "score")):
        numbers = [[event[number] for event in events(run, kind)] for run in runs.values()]
        assert len(numbers[0]) == 3
        np.testing.assert_allclose(*numbers, rtol=1e-5 if kind == "epoch" else 2e-3)
    files = [{path.name for path in run.iterdir()} for run in runs.values()]
    assert files[0] == files[1]
    assert len(list(runs[2].glob("checkpoints/*-of-2.safetensors"))) == 4
    run = assent.load_run(runs[2])
    assert run.trained.epochs == 3
    assert assent.evaluate(run, assent.tune(run)) is not None


@pytest.mark.parametrize("stop_on", ["mrr", "dev-loss"])
def test_whatever_is_measured_on_valid_is_measured_alike(benchmark, tmp_path, stop_on):
    found = []
    for size in (1, 3):
        run_to_the_end(benchmark, tmp_path / str(size), size, f"--set=train.stop_on={stop_on}")
        found.append([event["score"] for event in events(tmp_path / str(size), "evaluation")])
    np.testing.assert_allclose(*found, rtol=1e-5)


@pytest.mark.parametrize("place", [0, 1], ids=["the first", "another"])
def test_one_is_killed_and_the_others_end_with_a_line_and_nothing_is_lost(
    benchmark, runs, tmp_path, place
):
    run, moment = tmp_path / "run", random.Random(place)
    code, said = stop(benchmark, run, 2, signal.SIGKILL, place, moment.uniform(0, 0.5))
    assert code == (-signal.SIGKILL if place == 0 else 2)
    assert len(said) == 1 and said[0].endswith(LOST)  # without gloo's own words
    run_to_the_end(benchmark, run, 2)
    assert same(runs[2], run)
    assert not list(run.rglob("*.part"))


def test_four_go_on_as_two_and_as_one(benchmark, runs, tmp_path):
    run = tmp_path / "run"
    for size, place in ((4, 3), (2, 1), (1, 0)):
        stop(benchmark, run, size, signal.SIGKILL, place, 0.1)
    run_to_the_end(benchmark, run, 4)
    alike(runs[1], run)
    assert len(events(run, "resume")) == 3
    assert len(list(run.glob("checkpoints/*-of-4.safetensors"))) == 8


@pytest.mark.parametrize(
    ("place", "expected"), [(0, 128 + signal.SIGTERM), (1, 128 + signal.SIGINT)]
)
def test_asked_to_stop_all_stop_after_the_same_step(benchmark, runs, tmp_path, place, expected):
    run = tmp_path / "run"
    code, said = stop(benchmark, run, 2, signal.SIGTERM, place, 0.05)
    assert code == expected
    assert said == ["assent: stopped; the same command goes on from here"]
    run_to_the_end(benchmark, run, 2)
    assert same(runs[2], run)


def test_torchrun_makes_the_same_run(benchmark, runs, tmp_path):
    done = run_to_the_end(benchmark, tmp_path / "run", 2, torchrun=True)
    assert same(runs[2], tmp_path / "run")
    assert done.stdout.count("f1 on valid") == 1 and done.stderr.count("done after 3 epochs") == 1


def test_processes_whose_torchrun_is_killed_end_and_one_process_goes_on(benchmark, runs, tmp_path):
    run = tmp_path / "run"
    code, said = stop(benchmark, run, 2, signal.SIGKILL, 0, 0.05, torchrun=True)
    assert code == -signal.SIGKILL
    # Or the others notice first that one has ended.
    assert said and all(KILLED in line or LOST in line for line in said)
    run_to_the_end(benchmark, run, 1)
    alike(runs[1], run)


def test_a_process_whose_first_has_ended_before_they_met_ends_too(benchmark, tmp_path):
    words = command(benchmark, tmp_path / "run", 1)
    nobody = {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "1",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }
    joining = {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    ended = {"ASSENT_FIRST": "1"}  # not the process that starts this one
    done = subprocess.run(words, env={**os.environ, **nobody, **joining, **ended}, timeout=120)
    assert done.returncode == 2 and not (tmp_path / "run").exists()


def test_what_cannot_be_shared_is_refused_in_one_line(benchmark, runs, tmp_path):
    refused = run_to_the_end(benchmark, tmp_path / "text", 2, model="text", code=2)
    assert re.findall("^assent: .*", refused.stderr, re.MULTILINE) == [
        "assent: Text: meets the entities in its own way (vectors_of, entity_table, only), which "
        "several processes cannot share; leave out --workers"
    ]
    refused = run_to_the_end(benchmark, tmp_path / "rules", 2, model="rules", code=2)
    assert "RuleModel: is made by one process; leave out --workers" in refused.stderr
    refused = run_to_the_end(benchmark, tmp_path / "none", 0, code=2)
    assert "--workers 0; choose 1 or more" in refused.stderr
    refused = run_to_the_end(benchmark, tmp_path / "many", 100_000, code=2)
    assert "--workers 100000, but there are " in refused.stderr
    launcher = [sys.executable, *TORCHRUN, "--nproc-per-node=2", "-m", "assent"]
    done = subprocess.run(
        [*launcher, "report", str(runs[1])], capture_output=True, text=True, timeout=120
    )
    assert done.returncode and "report: is done by one process" in done.stderr


@pytest.mark.parametrize("damage", ["flipped", "gone"])
def test_of_shards_the_one_that_is_damaged_or_gone_is_named(benchmark, runs, tmp_path, damage):
    run = tmp_path / "run"
    shutil.copytree(runs[2], run)
    (run / "model.safetensors").unlink()
    shard = max(run.glob("checkpoints/*.2-of-2.safetensors"))
    content = bytearray(shard.read_bytes())
    content[-1] ^= 1
    shard.unlink()
    if damage == "flipped":
        shard.write_bytes(content)
    wrong = "damaged (its checksum is wrong)" if damage == "flipped" else "not there"
    for size in (2, 1):
        again = tmp_path / str(size)
        shutil.copytree(run, again)
        said = " ".join(run_to_the_end(benchmark, again, size).stderr.split())
        assert f"{again / 'checkpoints' / shard.name}: {wrong}; going back to" in said


def test_a_port_that_is_taken_is_told_as_that():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        environment = {
            **os.environ,
            **{"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)},
            **{"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2"},
        }
        words = ["from assent.training.launching import launched", "with launched(): pass"]
        done = subprocess.run(
            [sys.executable, "-c", "\n".join(words)],
            env=environment, capture_output=True, text=True, timeout=240,
        )  # fmt: skip
    assert f"process 1 of 2: the port 127.0.0.1:{port} is taken" in done.stderr
