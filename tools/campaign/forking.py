"""Commands in forks of a process that has imported all of assent, so that a kill costs little.

Starting Python and importing torch takes longer than any command on a small graph. A fork has all
of it at once. What must not be begun before a fork are threads, which do not live on in it: polars
and torch are imported here, not used.
"""

import codecs
import contextlib
import fcntl
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, NamedTuple

ONE_THREAD = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS")
OFTEN = 0.002  # seconds between two looks at a process
PATIENCE = 1800.0  # seconds by the clock for any command; it hangs if it takes longer
MOST_SAID = 1 << 20  # bytes of complaints
LATE = ("optuna", "altair", "vl_convert", "jinja2", "sklearn.ensemble")  # imported by commands
CODECS = ("cp437",)  # of names in archives; who has no rights may not read Python's own files
CHANGES = ("fsync", "rename", "replace", "unlink", "rmdir", "mkdir", "link", "symlink", "truncate")
CRASHED = 99  # exit code of what went past the error boundary


class Ended(NamedTuple):
    """How a command ended."""

    code: int  # negative: the signal that ended it
    complaint: str  # what it wrote to standard error
    processor: float  # seconds of processor time

    @property
    def is_clear(self) -> bool:
        """Whether it succeeded, or refused in words of its own."""
        return self.code in (0, 2) and "Traceback" not in self.complaint


def warm() -> None:
    """Imports all of assent, once."""
    os.environ |= dict.fromkeys(ONE_THREAD, "1")
    import assent

    for module in walk_packages(assent.__path__, "assent."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # what an extra would bring is not needed
                import_module(module.name)
    for codec in CODECS:
        codecs.lookup(codec)
    for name in LATE:
        with contextlib.suppress(ImportError):
            import_module(name)


class Fork:
    """A command under way in a process of its own."""

    def __init__(
        self, words: Sequence[str] | None, before: Callable[[], None] | None = None
    ) -> None:
        """Says these words to assent, after `before`; without words, does only that."""
        # A pipe and no file: the size of files may be bounded, and complaints must get through.
        self.heard, told = os.pipe()
        os.set_blocking(self.heard, False)
        fcntl.fcntl(told, fcntl.F_SETPIPE_SZ, MOST_SAID)
        sys.stdout.flush()
        sys.stderr.flush()
        self.start = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
            _become(words, told, before)
        os.close(told)

    def wait(self, seconds: float = PATIENCE) -> Ended | None:
        """How it ended; None if it has not ended after so many seconds."""
        end = time.monotonic() + seconds
        while True:
            pid, status, used = os.wait4(self.pid, os.WNOHANG)
            if pid:
                return self._ended(os.waitstatus_to_exitcode(status), used)
            if time.monotonic() >= end:
                return None
            time.sleep(OFTEN)

    def kill(self) -> Ended:
        """Ends it by a signal that cannot be caught, with all that it began."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):  # it had no group of its own yet
            os.kill(self.pid, signal.SIGKILL)
        _, status, used = os.wait4(self.pid, 0)
        return self._ended(os.waitstatus_to_exitcode(status), used)

    def end(self) -> Ended:
        """Waits for its end; what does not end is killed, which is no good end."""
        return self.wait() or self.kill()

    def _ended(self, code: int, used: object) -> Ended:
        try:
            text = os.read(self.heard, MOST_SAID).decode(errors="replace")
        except BlockingIOError:  # it said nothing, and something that it began still lives
            text = ""
        os.close(self.heard)
        return Ended(code, text, used.ru_utime + used.ru_stime)  # type: ignore[attr-defined]


def _become(words: Sequence[str] | None, log: int, before: Callable[[], None] | None) -> None:
    """What a fork does: the command, and its end; never returns."""
    code = CRASHED
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        silent = os.open(os.devnull, os.O_RDWR)
        for here, there in ((silent, 0), (silent, 1), (log, 2)):
            os.dup2(here, there)
        if before is not None:
            before()
        if words is not None:
            sys.argv = ["assent", *words]
            from assent.cli import main

            main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stderr.flush()
        os._exit(code)


def counting(file: Path) -> Callable[[], None]:
    """What a command must do first so that a file says how often it changed names on the disk."""

    def count() -> None:
        seen = 0

        def noted() -> None:
            nonlocal seen
            seen += 1
            file.write_text(str(seen))

        _before_changes(noted)

    return count


def dying(change: int, changes: Sequence[str] = CHANGES) -> Callable[[], None]:
    """What a command must do first to be killed just before its so-manieth of these changes.

    Moments by the clock seldom fall between a rename and the next; these always do.
    """

    def die() -> None:
        left = change

        def counted() -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

        _before_changes(counted, changes)

    return die


def _before_changes(call: Callable[[], None], changes: Sequence[str] = CHANGES) -> None:
    """Has a function called before anything that changes a name, or forces bytes to the disk."""
    for name in changes:
        real = getattr(os, name)

        def changing(*args: Any, _real: Callable[..., Any] = real, **options: Any) -> Any:
            call()
            return _real(*args, **options)

        setattr(os, name, changing)


def as_nobody(folder: Path) -> Callable[[], None]:
    """Makes a folder one that can be read only; what a command must do first to be held by that."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)

    def drop() -> None:
        if os.geteuid() == 0:  # whom no right is denied
            os.setgid(65534)
            os.setuid(65534)

    return drop


def writable(folder: Path) -> None:
    """What `as_nobody` took away is back."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
