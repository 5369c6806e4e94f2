"""The start of every command, `assent` or `python -m assent`: Ctrl-C ends in one line at once."""

import os
import signal
import sys
from typing import TextIO


def main() -> None:
    """Imports the commands, which takes a moment in which no error can be caught, and runs one."""
    _mend_streams()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from assent.cli import main as run

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _mend_streams() -> None:
    """What was closed before we began leads nowhere, and letters that it cannot show are spelt.

    Otherwise the next file that is opened would take the number of a closed one.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8"))
        elif name != "stdin" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _leave(*_: object) -> None:
    os.write(2, b"assent: stopped\n")
    os._exit(130)


if __name__ == "__main__":
    main()
