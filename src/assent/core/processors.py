"""How many processors there are for us."""

import math
import os
from collections.abc import Iterator
from pathlib import Path


def processors(groups: Path = Path("/sys/fs/cgroup")) -> int:
    """How many processors this process may use, at least one.

    Those it may run on, and no more than its container's limit allows: a limit of 1.5 processors
    leaves one thread idle half of the time, two threads half of theirs.
    """
    may_run_on = getattr(os, "sched_getaffinity", None)
    count = len(may_run_on(0)) if may_run_on else os.cpu_count() or 1
    limits = [count, *_limits(groups)]
    return max(1, math.ceil(min(limits)))


def _limits(groups: Path) -> Iterator[float]:
    """The processor time that control groups allow, in processors: those of version 2 and 1."""
    try:
        own = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        own = []
    names = [line.split(":", 2)[2].strip("/") for line in own if line.count(":") >= 2]
    for name in {"", *names}:
        for folder in (groups / name, *(groups / name).parents):
            if not folder.is_relative_to(groups):
                break
            yield from _limit(folder / "cpu.max")
    quota, period = (groups / "cpu" / f"cpu.cfs_{word}_us" for word in ("quota", "period"))
    yield from _limit(quota, period)


def _limit(*files: Path) -> Iterator[float]:
    """Time a period over the period; none where there is no such file, or no limit in it."""
    try:
        words = " ".join(path.read_text(encoding="utf-8") for path in files).split()
        quota, period = float(words[0]), float(words[1])
    except (OSError, ValueError, IndexError):  # "max" is no number
        return
    if quota > 0 and period > 0:
        yield quota / period
