"""How much memory this machine has for us."""

import os
import resource
from pathlib import Path

LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container


def memory() -> int:
    """Bytes of memory of the machine, or of the container or process if these have fewer."""
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    most, _ = resource.getrlimit(resource.RLIMIT_AS)  # `ulimit -v`
    if most != resource.RLIM_INFINITY:
        there = min(there, most)
    try:
        return min(there, int(LIMIT.read_text(encoding="ascii")))
    except (OSError, ValueError):  # "max" is no number
        return there
