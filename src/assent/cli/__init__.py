"""The command line: one thin file a command; every verb reads what the one before it wrote."""

import os
import sys
import tempfile
import time
import traceback
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import NoReturn

from assent.cli.common import DEBUG, app, err
from assent.cli.together import is_first, several
from assent.core.legible import first_line
from assent.errors import DEBUGGING, AssentError, StoppedError
from assent.files.text import is_text

__all__ = ["app", "main"]

# `--help` shows these first, in the order in which a fact goes through them.
FIRST = ("demo", "build", "audit", "train", "tune", "evaluate", "complete", "review", "report")
OTHERS = {"__main__", "arguments", "calling", "common", "helping", "together", *FIRST}

for _name in (*FIRST, *sorted({module.name for module in iter_modules(__path__)} - OTHERS)):
    import_module(f"assent.cli.{_name}")


AFTER_FIRST = 2.0  # seconds: where all processes fail alike, the first says it and ends the others
STOPPED = 130  # the exit code after Ctrl-C
OUR_FAULT = 70  # the exit code of an error that nobody expected, as sysexits.h has it


def _warn(message: Warning | str, *_: object) -> None:
    """A warning as one line."""
    err.print(f"warning: {' '.join(str(message).splitlines())}", style="yellow", soft_wrap=True)


def main() -> None:
    """Runs a command; every error ends in one line.

    Exit code 2: what a user can mend. 70: what nobody expected; a log is saved, to be sent to us.
    With --debug, anywhere in the command, both show where they come from.
    """
    warnings.showwarning = _warn  # type: ignore[assignment]
    debug = DEBUG in sys.argv
    sys.argv = [word for word in sys.argv if word != DEBUG]
    if debug:
        os.environ[DEBUGGING] = "1"
    for word in sys.argv[1:]:
        if not is_text(word):
            code = sys.getfilesystemencoding()
            _leave(f"{word}: bytes that are no text in {code}, which is expected here", 2, False)
    try:
        app()
    except StoppedError as stop:
        if str(stop):  # of several processes, one says it
            _complain(str(stop), "")
        sys.exit(128 + (stop.signal or 2))
    except AssentError as error:
        if several() and not is_first():
            time.sleep(AFTER_FIRST)
        _leave(str(error), 2, debug)
    except SystemExit as end:
        if end.code == STOPPED:  # Ctrl-C before a command began: Typer ends without a word
            _complain("stopped", "")
        raise
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output had enough
        sys.exit(0)
    except KeyboardInterrupt:
        _complain("stopped", "")
        sys.exit(STOPPED)
    except MemoryError:
        _leave("not enough memory for this; take a smaller graph, or a machine with more", 2, debug)
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else ""
        _leave(f"{place}{error.strerror or first_line(error)}", 2, debug)
    except Exception as error:
        if str(error).startswith("Symlink loop"):  # what Python says of a link to itself
            _leave(f"{first_line(error)}; choose a place that is one", 2, debug)
        what = f"{type(error).__name__}: {first_line(error)}"
        _leave(
            f"{what}; this is a fault of assent, please report it with {_saved_log()}",
            OUR_FAULT,
            debug,
        )


def _leave(line: str, code: int, debug: bool) -> NoReturn:
    """Ends with one line, after the traceback if that is wanted."""
    if debug:
        err.print(traceback.format_exc(), soft_wrap=True)
    _complain(line)
    sys.exit(code)


def _complain(line: str, style: str = "red") -> None:
    with suppress(OSError):  # nobody can hear it; the exit code tells all the same
        err.print(f"assent: {' '.join(line.splitlines())}", style=style, soft_wrap=True)


def _saved_log() -> Path | str:
    """Writes the command and the traceback to a new file."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="assent-", suffix=".log", encoding="utf-8", errors="replace", delete=False
        ) as file:
            file.write(f"{sys.argv}\nPython {sys.version}\n{traceback.format_exc()}")
        return Path(file.name)
    except OSError:
        return "what --debug prints"
