"""The same examples on every run, public data where they are at hand, and commands."""

import os
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

from assent.cli import main
from assent.errors import DEBUGGING

PROJECT = Path(__file__).resolve().parents[1]

settings.register_profile(
    "assent",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],  # others may use the machine at the same time
)
settings.load_profile("assent")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public benchmark data; they are never part of the project."""
    folder = Path(os.environ.get("ASSENT_DATA") or PROJECT / ".." / "shared" / "data").resolve()
    if not folder.is_dir():
        pytest.skip(f"no benchmark data in {folder}; set ASSENT_DATA to the folder that has them")
    return folder


@pytest.fixture(autouse=True, scope="session")
def _state(tmp_path_factory):
    """What assent notes about a user goes into a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(autouse=True)
def _debugging_ends():
    """--debug of one test is not that of the next."""
    yield
    os.environ.pop(DEBUGGING, None)


@pytest.fixture
def one_thread():
    """Models this small only wait for a second thread, long where the machine is busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def say(monkeypatch, capsys):
    """Runs a command; returns its exit code, what it printed and what it complained about."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["assent", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return end.value.code or 0, printed.out, printed.err

    return run
