"""Commands that several processes do together: which of them speaks, and how others are started."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from assent.errors import ConfigError

SHARED = ("train", "tune", "evaluate", "complete")  # what several processes do together
ALONE = ("unfinished", "reviewed", "part")  # options of what one process does
NOT_SAID = ("workers", "quiet", "json")  # to the others: only the first speaks
MOST_A_PROCESSOR = 4  # processes that are started on this machine


def _workable(count: int) -> int:
    """Refuses numbers of processes that cannot be, before torch is loaded, which takes seconds."""
    from assent.core.processors import processors

    if count < 1:
        raise ConfigError(f"--workers {count}; choose 1 or more")
    if count > (most := MOST_A_PROCESSOR * processors()):
        raise ConfigError(
            f"--workers {count}, but there are {processors()} processors here, and each process "
            f"takes memory of its own; choose {most} at most"
        )
    return count


Workers = Annotated[
    int,
    typer.Option(
        callback=_workable,
        help="How many processes of this machine share the entities, at most "
        f"{MOST_A_PROCESSOR} for each of its processors; with torchrun, it says how many.",
    ),
]


def several() -> bool:
    """Whether torchrun, or another launcher, started several processes of this command."""
    return "RANK" in os.environ and os.environ.get("WORLD_SIZE", "1") != "1"


def is_first() -> bool:
    """Whether this process speaks for all of them."""
    return not several() or os.environ["RANK"] == "0"


@contextmanager
def together(context: typer.Context, workers: int) -> Iterator[None]:
    """Starts the other processes, or joins those that a launcher started.

    Runs that are loaded within it are shared by all.
    """
    refuse_alone(context, workers)
    from assent.training.launching import more_processes
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
            given = value if isinstance(value, list | tuple) else [value]
            words += [f"{name}={each}" for each in given]
    return words
