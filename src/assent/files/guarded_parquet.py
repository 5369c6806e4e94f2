"""Parquet files are first read where a crash cannot take us along: in a process of its own.

One flipped bit may tell a reader to make room for exabytes, which ends its process; no error can be
caught. So a second process reads each file before we do. It lives as long as this one, has a bound
of memory and time for each file, and is started again if a file was its end.
"""

import atexit
import json
import select
import subprocess
import sys
import threading
from pathlib import Path

from assent.core.memory import memory
from assent.errors import DataError

ROOM = 2 << 30  # bytes that a reader may take for any file, ...
RATIO = 100  # ... and for each byte of it
PATIENCE = 20.0  # seconds for any file, ...
PACE = 1e6  # ... and one more for each so many bytes

# It imports nothing but polars, to be ready soon.
READER = """
import json, resource, sys
import polars
base = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
for line in sys.stdin:
    path, room = json.loads(line)
    resource.setrlimit(resource.RLIMIT_AS, (base + room, hard))
    try:
        polars.read_parquet(path, glob=False)
        said = ""
    except BaseException as error:
        said = str(error) or type(error).__name__
    print(json.dumps(said), flush=True)
"""

_lock = threading.Lock()
_reader: "subprocess.Popen[str] | None" = None


def refuse_parquet(path: Path) -> None:
    """Raises an error for a file that cannot be read, or whose reading would end a process."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error
    room = min(ROOM + RATIO * size, memory())
    with _lock:
        said = _said(json.dumps([str(path.resolve()), room]), PATIENCE + size / PACE)
    if said is None:
        raise DataError(
            f"{path}: reading it ended the reader, or took more than {room >> 20:,} MB or "
            f"{PATIENCE + size / PACE:.0f} s; expected a whole Parquet file"
        )
    if said:
        line = next(iter(said.splitlines()), "")
        raise DataError(f"{path}: not a Parquet file that can be read: {line}")


def _said(request: str, seconds: float) -> str | None:
    """What the reader says to a file; nothing is good, None: it ended, or took too long."""
    global _reader
    if _reader is None or _reader.poll() is not None:
        _reader = _started()
    assert _reader.stdin is not None and _reader.stdout is not None
    try:
        _reader.stdin.write(request + "\n")
        _reader.stdin.flush()
        ready, _, _ = select.select([_reader.stdout], [], [], seconds)
        line = _reader.stdout.readline() if ready else ""
    except OSError:
        line = ""
    if not line:
        stop()
        return None
    return str(json.loads(line))


def _started() -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-I", "-c", READER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )


@atexit.register
def stop() -> None:
    """Ends the reader, if there is one."""
    global _reader
    if _reader is not None:
        _reader.kill()
        _reader.communicate()
        _reader = None
