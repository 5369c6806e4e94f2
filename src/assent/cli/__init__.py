"""The command line: one thin file a command; every verb reads what the one before it wrote."""

import sys
import warnings
from importlib import import_module
from pkgutil import iter_modules

from assent.cli.common import app, err
from assent.errors import AssentError, StoppedError

__all__ = ["app", "main"]

# `--help` shows these first, in the order in which a fact goes through them.
FIRST = ("demo", "build", "audit", "train", "tune", "evaluate", "complete", "review", "report")
OTHERS = {"__main__", "common", *FIRST}

for _name in (*FIRST, *sorted({module.name for module in iter_modules(__path__)} - OTHERS)):
    import_module(f"assent.cli.{_name}")


def _warn(message: Warning | str, *_: object) -> None:
    """A warning as one line."""
    err.print(f"warning: {message}", style="yellow", markup=False, highlight=False, soft_wrap=True)


def main() -> None:
    """Runs a command; what a user can mend ends in one line and exit code 2."""
    warnings.showwarning = _warn  # type: ignore[assignment]
    try:
        app()
    except StoppedError as stop:
        err.print(f"assent: {stop}", markup=False, highlight=False)
        sys.exit(128 + (stop.signal or 2))
    except AssentError as error:
        err.print(f"assent: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output had enough
        sys.exit(0)
