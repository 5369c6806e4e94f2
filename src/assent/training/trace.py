"""trace.jsonl: one line an event."""

import json
import time
from pathlib import Path
from typing import Any


class Trace:
    """Appends events to a file, or keeps them to itself without one."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.events: list[dict[str, Any]] = []

    def __call__(self, event: str, **values: Any) -> None:
        line = {"event": event, **values, "time": round(time.time(), 3)}
        self.events.append(line)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def size(self) -> int:
        return self.path.stat().st_size if self.path and self.path.exists() else 0

    def rewind(self, size: int) -> None:
        """Forgets what came after a checkpoint: it is going to happen again."""
        if self.path is not None and self.size() > size:
            with self.path.open("rb+") as file:
                file.truncate(size)
