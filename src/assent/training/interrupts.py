"""Ctrl-C and SIGTERM end long work after the step under way, not in the middle of it."""

import signal
import threading
import time
from types import FrameType
from typing import Self

from assent.errors import StoppedError, TerminatedError

SIGNALS = (signal.SIGINT, signal.SIGTERM)
ECHO = 1.0  # seconds in which `timeout` sends SIGTERM again, to the process and to its group


class Interrupts:
    """While it is open, signals are noted; `leave` then ends the work as they asked."""

    def __init__(self) -> None:
        self.wanted: int | None = None
        self._when = 0.0
        self._before: dict[int, object] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # only it may set handlers
            self._before = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def leave(self, first: bool = True) -> None:
        """Ends the work; of several processes, the first says so."""
        said = "stopped; the same command goes on from here" if first else ""
        raise StoppedError(said, self.wanted)

    def _note(self, number: int, _: FrameType | None) -> None:
        if self.wanted is None:
            self.wanted, self._when = number, time.monotonic()
        elif number == signal.SIGINT:  # asked twice: at once, then
            raise KeyboardInterrupt
        elif time.monotonic() - self._when > ECHO:
            raise TerminatedError
