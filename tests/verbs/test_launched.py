"""`--workers` and torchrun around tune, evaluate and complete: the files of one process."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import assent
import toy
from assent.geometry.peers import LOST
from trained_runs import learned

TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "assent")
SAYS = re.compile(r"^assent: .*", re.MULTILINE)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A run on a graph of four tiles of entities."""
    folder = tmp_path_factory.mktemp("launched")
    assent.save(toy.built(toy.crowd(0, 220, 30, 6)), folder / "benchmark")
    learned(folder / "benchmark", folder / "run", "train.epochs=10")
    return folder


def started(place, *words, code=0, launcher=("-m", "assent")):
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *launcher, *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=400, env=one_thread, cwd=place
    )
    assert done.returncode == code or (code and done.returncode), done.stderr
    return done


def test_each_verb_writes_the_bytes_of_one_process(place):
    run = place / "run"
    complete = ["complete", "run", "--review-above", "0.001", "--overwrite", "--no-refit"]
    complete += ["--precision", "0.05", "--out", "facts.tsv", "--review", "doubtful.tsv"]
    for words, files in (
        (["tune", "run"], [run / "decider.json"]),
        (["evaluate", "run"], [run / "metrics.json"]),
        (complete, [place / "facts.tsv", place / "doubtful.tsv", run / "considered.npz"]),
    ):
        alone = started(place, *words)
        before = [file.read_bytes() for file in files]
        for file in files:
            file.unlink()
        two = started(place, *words, launcher=TORCHRUN)
        assert [file.read_bytes() for file in files] == before
        assert two.stdout == alone.stdout  # one of them speaks
    assert (place / "doubtful.tsv").read_bytes().count(b"\n") > 10
    assert not list(place.rglob("*.part"))


def test_what_one_process_must_do_is_refused(place):
    for words, said in (
        (["tune", "run", "--unfinished"], "--unfinished: is done by one process"),
        (["complete", "run", "--out", "x.tsv", "--reviewed"], "--reviewed: is done by one process"),
        (["complete", "run", "--part", "1/2"], "--part: is done by one process"),
    ):
        refused = started(place, *words, "--workers", 2, code=2)
        assert SAYS.findall(refused.stderr) == [f"assent: {said}; leave out --workers"]


@pytest.mark.parametrize("place_killed", [0, 1], ids=["the first", "another"])
def test_one_is_killed_and_the_others_end_and_nothing_is_half_written(place, place_killed):
    words = [sys.executable, "-m", "assent", "complete", "run", "--no-refit", "--workers", "2"]
    words += ["--precision", "0.05", "--out", "killed.tsv"]
    shutil.rmtree(place / "run" / "completing", ignore_errors=True)  # of one that was killed before
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=place)
    deadline = time.monotonic() + 300
    while not list(place.glob("run/completing/*.npz")):  # a relation was asked about
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    everyone = [process.pid, *children(process.pid)]
    os.kill(everyone[place_killed], signal.SIGKILL)
    _, said = process.communicate(timeout=120)
    while any(Path(f"/proc/{pid}").exists() for pid in everyone):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert process.returncode == (2 if place_killed else -signal.SIGKILL)
    lines = SAYS.findall(said)
    assert lines == [lines[0]] and lines[0].endswith(LOST)  # no words of gloo
    assert not (place / "killed.tsv").exists()


def children(pid):
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return sorted(map(int, found))
