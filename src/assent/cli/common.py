"""The application that commands join, and how they tell what they find: in words, or as JSON."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, signature
from signal import SIGINT, SIGTERM
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from assent.cli.calling import OneLine, refuse_command
from assent.cli.helping import Listing, name_value
from assent.cli.together import SHARED, is_first, several
from assent.errors import ConfigError, StoppedError, TerminatedError
from assent.reporting.door import Door
from assent.reporting.showing import only_here

if TYPE_CHECKING:
    from assent.reporting.grid import Grid

# What people look for under another name, and where it is.
OTHER_WORDS = {"compare": "report", "predict": "complete", "fit": "train", "init": "build"}


class Commands(OneLine, TyperGroup):
    """Some commands, which answer to a word that is none with the one that does it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not ctx.resilient_parsing:
            refuse_command(args[0], ctx, OTHER_WORDS.get(args[0]))
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Commands,
    help="Find facts that are missing from a knowledge base, and decide which of them to add.\n\n"
    "`assent demo` shows all of it on a built-in graph. On a graph of your own, run build, train, "
    "tune, evaluate, complete and report, in this order; each reads what the one before wrote. "
    "`assent COMMAND --help` says more.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

DEBUG = "--debug"  # anywhere in a command; `main` takes it out
WIDE = 120  # columns where no terminal says how many it has

out = Door(width=None if sys.stdout.isatty() else WIDE)  # what a command finds
notes = Door(stderr=True)  # progress and remarks; --quiet leaves them out
err = Door(stderr=True)  # errors and warnings, which are always shown

# With --json, what a command tells is gathered here and printed as one object when it ends.
_document: dict[str, Any] | None = None

Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print no progress: only what is found, and warnings."),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object in place of tables and sentences.")
]


def stopped(line: str, stop: KeyboardInterrupt) -> StoppedError:
    """The end of a command by Ctrl-C or SIGTERM; of several processes, the first says so."""
    terminated = isinstance(stop, TerminatedError)
    return StoppedError(line if is_first() else "", SIGTERM if terminated else SIGINT)


def command(
    name: str | None = None, *, with_json: bool = True, into: typer.Typer = app
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a function a command that also takes --quiet and --json.

    It tells what it found by `say`, `tell`, `show` and `as_json`, and its progress on `notes`.
    Without `with_json`, it has no --json: for commands that speak while they run.
    """
    common = {"quiet": Quiet, "json": Json} if with_json else {"quiet": Quiet}

    def make(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def told(*args: Any, quiet: bool, json: bool = False, **options: Any) -> None:
            if several() and (name or function.__name__) not in SHARED:
                raise ConfigError(
                    f"{name or function.__name__}: is done by one process; of several, as torchrun "
                    f"starts them, only {', '.join(SHARED)} make use"
                )
            with only_here(), _telling(quiet, json):
                try:
                    function(*args, **options)
                except KeyboardInterrupt as stop:  # Typer would end without a word
                    raise stopped("stopped", stop) from None

        own = signature(function)
        for parameter in own.parameters.values():
            name_value(parameter.annotation)
        more = [
            Parameter(option, Parameter.KEYWORD_ONLY, default=False, annotation=kind)
            for option, kind in common.items()
        ]
        told.__signature__ = own.replace(  # type: ignore[attr-defined]
            parameters=[*own.parameters.values(), *more]
        )
        told.__annotations__ = {**function.__annotations__, **common}
        into.command(name, cls=Listing)(told)
        return function

    return make


@contextmanager
def _telling(quiet: bool, as_json: bool) -> Iterator[None]:
    """Gathers what a command tells, if that is to be JSON, and prints it when the command ends."""
    global _document
    notes.quiet, _document = quiet or not is_first(), {} if as_json else None
    out.quiet = not is_first()  # of several processes, one speaks
    try:
        yield
        _print_document()
    except typer.Exit:  # the exit code says what was found
        _print_document()
        raise
    finally:
        notes.quiet, _document = False, None
        out.quiet = False


def _tell_version(wanted: bool) -> None:
    if wanted:
        from assent.core.version import __version__

        out.print(f"assent {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def common_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_tell_version, is_eager=True, help="Print the version, and end."
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option(DEBUG, help="Show where an error comes from; stands anywhere in a command."),
    ] = False,
) -> None:
    """What can be said before any command."""


def say(line: str) -> None:
    """Tells a sentence; in JSON, it stands among the `notes`."""
    if _document is None:
        out.print(line, soft_wrap=True)
    else:
        _document.setdefault("notes", []).append(line)


def tell(name: str, value: object, remark: str = "") -> None:
    """Tells a named value, such as a file that was written; in JSON, it stands under its name."""
    if _document is None:
        say(f"{name}: {value}{remark}")
    else:
        _document[name] = str(value)


def show(grid: "Grid") -> None:
    """Prints a table that has rows; in JSON, it stands under its name as a list of rows."""
    from assent.reporting.rendering import records, terminal

    if _document is None and grid.rows:
        out.print(terminal(grid))
    elif _document is not None:
        _document[grid.name] = records(grid)
        for note in grid.notes:
            say(note)


def as_json(values: Callable[[], Mapping[str, Any]]) -> bool:
    """Tells plain values under their own names if JSON is wanted; returns whether it is."""
    if _document is None:
        return False
    _document.update(values())
    return True


def _print_document() -> None:
    """Prints JSON in ASCII: names come from users' graphs, and a terminal may be reading."""
    if _document is not None and is_first():
        from assent.measuring.plain import plain

        print(json.dumps(plain(_document), indent=1, allow_nan=False))
