"""The start of every command, `assent` or `python -m assent`: what ends one ends it in one line.

Ctrl-C and SIGTERM are errors where they come, so that folders for scratch go and locks open. What
ends by itself after the step under way (`training/interrupts.py`) sets its own rules meanwhile.
"""

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, TextIO

from assent.errors import TerminatedError

USUAL = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
PATIENCE = 20.0  # seconds after SIGTERM; code that is not Python's may wait for others for long


def main() -> None:
    """Imports the commands, which takes a moment in which no error can be caught, and runs one."""
    _mend_streams()
    _refuse_no_folder()
    for number, usual in USUAL.items():
        if signal.getsignal(number) == usual:
            signal.signal(number, _leave)
    from assent.cli import main as run

    if signal.getsignal(signal.SIGTERM) is _leave:
        _hear_terminations()
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _hear_terminations() -> None:
    """From now on SIGTERM is an error, and where nothing comes of it the end all the same.

    Forked processes are not meant: there it ends them at once, as ever.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    os.register_at_fork(after_in_child=_forget_terminations)
    threading.Thread(target=_end_in_time, args=(reading,), daemon=True).start()
    signal.signal(signal.SIGTERM, _terminate)


def _terminate(number: int, _: object) -> NoReturn:
    signal.signal(number, _know)  # `timeout` sends it twice: what cleans up goes on
    raise TerminatedError


def _know(*_: object) -> None:
    """The end is under way."""


def _end_in_time(reading: int) -> None:
    """Ends the process some time after a SIGTERM that was to be an error."""
    while number := os.read(reading, 1):
        if number[0] != signal.SIGTERM:
            continue
        if signal.getsignal(signal.SIGTERM) in (_terminate, _know):
            time.sleep(PATIENCE)
            _leave(signal.SIGTERM)


def _forget_terminations() -> None:
    signal.set_wakeup_fd(-1)
    if signal.getsignal(signal.SIGTERM) in (_terminate, _know):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


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


def _refuse_no_folder() -> None:
    """Ends in one line where the folder that we work in is gone, or its name is no text.

    The libraries below look at it as they are imported, and end the process in words of their own.
    """
    try:
        str(Path.cwd()).encode()
        return
    except OSError as error:
        wrong = f"cannot be found: {error.strerror}; go to one that is there"
    except UnicodeEncodeError:
        wrong = "has a name with bytes that are no text; go to another, or rename it"
    with suppress(OSError):
        print(f"assent: the folder that this was said in {wrong}", file=sys.stderr)
    sys.exit(2)


def _leave(number: int, *_: object) -> NoReturn:
    if os.environ.get("RANK", "0") == "0":  # of several processes, the first speaks
        with suppress(OSError):
            os.write(2, b"assent: stopped\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
