"""A server on this machine, and no test that waits for long."""

import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from datasets.loopback import Loopback, serving


@pytest.fixture(autouse=True)
def bounded_time() -> Iterator[None]:
    def stop(signum: int, frame: FrameType | None) -> None:
        pytest.fail("took more than 30 seconds")

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, stop)
        signal.alarm(30)
        yield
        signal.alarm(0)
    else:
        yield


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Loopback]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("ASSENT_DATA", str(tmp_path / "cache"))
    with serving() as loopback:
        yield loopback
