"""SIGTERM ends every command with one line and exit code 143, and what was for scratch is gone."""

import os
import re
import signal
import subprocess
import sys

import pytest

import assent
import toy

# Runs a command whose engine does what a test says in place of its first query.
RUNNING = """
import os, signal, sys, threading, time
import assent.__main__ as start
from assent.files.engines.with_duckdb import DuckDB

def terminate():  # as `timeout` does: to the process, and to its group
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)

def at_once(self, *_):
    terminate()

def in_a_query(self, *_):
    threading.Timer(0.3, terminate).start()
    self.found("SELECT sum(hash(range)) FROM range(1000000000000)")  # hours, in small steps

def deaf(self, *_):
    import ctypes
    start.PATIENCE = 0.5
    threading.Timer(0.1, terminate).start()
    lock = ctypes.create_string_buffer(64)
    for _ in range(2):  # the second never returns, whatever signals come
        ctypes.CDLL(None).pthread_mutex_lock(lock)

def fork(self, *_):
    reading, writing = os.pipe()
    if not (child := os.fork()):
        os.write(writing, b"!")
        time.sleep(60)
        os._exit(1)  # what comes next is the parent's
    os.read(reading, 1)
    os.kill(child, signal.SIGTERM)
    print("the fork ended by", os.WTERMSIG(os.waitpid(child, 0)[1]), flush=True)
    time.sleep(0.2)
    terminate()

DuckDB.take = DuckDB.put = globals()[sys.argv.pop(1)]
start.main()
"""


@pytest.fixture
def benchmark(tmp_path):
    assent.save(
        toy.built(toy.crowd(0, num_entities=40, num_relations=3, facts_each=6)), tmp_path / "b"
    )
    return tmp_path / "b"


@pytest.fixture
def ended(tmp_path, benchmark):
    """A command by DuckDB, where that happens; how it ended."""

    def run(happening, *words):
        command = [*words, "--engine", "duckdb", "--scratch", "scratch/inner", "-q"]
        return subprocess.run(
            [sys.executable, "-c", RUNNING, happening, *command],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100,
        )  # fmt: skip

    return run


@pytest.mark.parametrize("happening", ["at_once", "in_a_query"])
@pytest.mark.parametrize("command", ["build", "audit"])
def test_sigterm_is_one_line_and_scratch_is_gone(ended, tmp_path, happening, command):
    words = [command, "b"] if command == "audit" else [command, "b/train.tsv", "--out", "new"]
    found = ended(happening, *words)
    assert (found.returncode, found.stderr) == (128 + signal.SIGTERM, "assent: stopped\n")
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_where_code_of_others_does_not_listen_the_end_comes_all_the_same(ended):
    found = ended("deaf", "audit", "b")
    assert (found.returncode, found.stderr) == (128 + signal.SIGTERM, "assent: stopped\n")


def test_a_fork_ends_as_ever_and_not_its_parent(ended):
    found = ended("fork", "audit", "b")
    assert found.stdout == f"the fork ended by {signal.SIGTERM:d}\n"
    assert (found.returncode, found.stderr) == (128 + signal.SIGTERM, "assent: stopped\n")


# Sends itself SIGTERM when a module is first looked for.
EARLY = """
import os, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGTERM)
sys.meta_path.insert(0, Finder())
from assent.__main__ import main
main()
"""


@pytest.mark.parametrize(("rank", "said"), [("0", "assent: stopped\n"), ("1", "")])
def test_in_the_first_second_too_and_one_of_several_processes_says_it(rank, said):
    found = subprocess.run(
        [sys.executable, "-c", EARLY, "audit", "x"], capture_output=True, text=True, check=False,
        env={**os.environ, "RANK": rank},
    )  # fmt: skip
    assert (found.returncode, found.stderr) == (128 + signal.SIGTERM, said)


# A disk that takes no more

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
from assent.__main__ import main
main()
"""


@pytest.mark.parametrize("most", [4_000, 200_000])  # bytes of a file: for Parquet's, for DuckDB's
def test_a_disk_without_room_for_tables_is_one_line_about_room(tmp_path, most):
    graph = toy.crowd(0, num_entities=400, num_relations=3, facts_each=6)
    assent.write(graph, tmp_path / "graph.tsv")
    words = ["build", "graph.tsv", "--out", "b", "--engine", "duckdb", "--scratch", "scratch"]
    found = subprocess.run(
        [sys.executable, "-c", LIMITED, str(most), *words],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = found.stderr.splitlines()[-1]
    assert found.returncode == 2 and re.search("room.*File too large.*--scratch", said), found
    assert [path.name for path in tmp_path.iterdir()] == ["graph.tsv"]
