"""Commands that several processes do together: how more of them are started."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import typer

from assent.cli.common import several
from assent.errors import ConfigError

ALONE = ("unfinished", "reviewed", "part")  # options of what one process does
NOT_SAID = ("workers", "quiet", "json")  # to the others: only the first speaks


@contextmanager
def together(context: typer.Context, workers: int) -> Iterator[None]:
    """Starts the other processes, or joins those that a launcher started.

    Runs that are loaded within it are shared by all.
    """
    refuse_alone(context, workers)
    from assent.training.together import workers as more_processes
    from assent.verbs.sharing import sharing

    with more_processes(workers, words_of(context)), sharing():
        yield


def refuse_alone(context: typer.Context, workers: int) -> None:
    """Ends before any work where several processes are asked for what one must do."""
    if workers > 1 or several():
        for name in ALONE:
            if context.params.get(name):
                raise ConfigError(f"--{name}: is done by one process; leave out --workers")


def words_of(context: typer.Context) -> Sequence[str]:
    """The words of the command under way, for another process to do the same."""
    words, command = [str(context.info_name)], context.command
    for parameter in command.params:
        value, name = context.params.get(str(parameter.name)), max(parameter.opts, key=len)
        if value is None or parameter.name in NOT_SAID:
            continue
        if parameter.param_type_name == "argument":
            words.append(str(value))
        elif isinstance(value, bool):
            words += [name] if value else parameter.secondary_opts
        else:
            several = value if isinstance(value, list | tuple) else [value]
            words += [f"{name}={each}" for each in several]
    return words
