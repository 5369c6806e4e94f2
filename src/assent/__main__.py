"""The start of every command, `assent` or `python -m assent`: Ctrl-C ends in one line at once."""

import os
import signal


def main() -> None:
    """Imports the commands, which takes a moment in which no error can be caught, and runs one."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from assent.cli import main as run

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _leave(*_: object) -> None:
    os.write(2, b"assent: stopped\n")
    os._exit(130)


if __name__ == "__main__":
    main()
