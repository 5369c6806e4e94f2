"""trace.jsonl: one line an event."""

import json
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assent.core.legible import in_words
from assent.errors import DataError
from assent.files.guarding import MALFORMED, refuse_special

ADOPTED = "adopted"  # the event of a run whose weights another library trained
STEPS = ("epoch", "counted")  # events that tell how long learning took


@dataclass(frozen=True, slots=True)
class Trained:
    """How a training went."""

    best_epoch: int
    scores: tuple[float, ...]  # evaluations on valid
    epochs: int  # that were run
    cut_after: float | None = None  # minutes, where the time was up before the end
    seconds: float = field(default=0.0, compare=False)  # that its steps took


class Trace:
    """Appends events to a file, or keeps them to itself without one."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.events: list[dict[str, Any]] = []

    def __call__(self, event: str, **values: Any) -> None:
        line = {"event": event, **values, "time": round(time.time(), 3)}
        self.events.append(line)
        if self.path is not None:
            with _saying(self.path), self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def size(self) -> int:
        return self.path.stat().st_size if self.path and self.path.exists() else 0

    def rewind(self, size: int) -> str:
        """Forgets what came after a checkpoint: it is going to happen again.

        A trace that was cut loses the rest of the line in which it was; returns what to say then.
        """
        if self.path is None:
            return ""
        refuse_special(self.path)
        with _saying(self.path):
            if (found := self.size()) > size:
                _shorten(self.path, size)
            content = self.path.read_bytes() if self.path.exists() else b""
            if content and not content.endswith(b"\n"):
                _shorten(self.path, content.rfind(b"\n") + 1)
        if found >= size and (not content or content.endswith(b"\n")):
            return ""
        return f"{self.path}: was cut; what it told of up to here is lost in part"


@contextmanager
def _saying(path: Path) -> Iterator[None]:
    """Says of a trace that cannot be written why not, in one line."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from error


def _shorten(path: Path, size: int) -> None:
    with path.open("rb+") as file:
        file.truncate(size)


def read_events(path: Path) -> list[dict[str, Any]]:
    """The events of a trace; of a line in which it was cut, a warning is all that is left."""
    refuse_special(path)
    try:
        *lines, last = path.read_text(encoding="utf-8", errors="replace").split("\n")
        if last:
            warnings.warn(f"{path}: cut in line {len(lines) + 1}, which is left out", stacklevel=2)
        events = [json.loads(line) for line in lines if line]
        if not all(isinstance(event, dict) for event in events):
            raise ValueError("a line that is no event")
        return events
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read: {in_words(error)}") from error


def read_trained(path: Path) -> Trained:
    """How a training went, by its trace."""
    return trained_by(read_events(path), path)


def trained_by(events: list[dict[str, Any]], path: Path) -> Trained:
    """How a training went, by the events of its trace."""
    try:
        scores = tuple(float(e["score"]) for e in events if e["event"] == "evaluation")
        end = next(e for e in reversed(events) if e["event"] == "end")
        cut = next((float(e["minutes"]) for e in events if e["event"] == "cut"), None)
        seconds = sum(float(e["seconds"]) for e in events if e["event"] in STEPS)
        return Trained(int(end["best_epoch"]), scores, int(end["epochs"]), cut, seconds)
    except StopIteration:
        raise DataError(f"{path}: no end in it; train the run to its end first") from None
    except MALFORMED as error:
        raise DataError(f"{path}: cannot be read: {in_words(error)}") from error
