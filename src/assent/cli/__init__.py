"""The command line: every verb reads what the one before it wrote."""

import sys
from importlib import import_module

from assent.cli.common import app, err
from assent.errors import AssentError, StoppedError

__all__ = ["app", "main"]

for _module in (
    "graphs",
    "runs",
    "complete",
    "measures",
    "reproduce",
    "data",
    "demo",
):  # `--help` shows commands in this order
    import_module(f"assent.cli.{_module}")


def main() -> None:
    """Runs a command; what a user can mend ends in one line and exit code 2."""
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
