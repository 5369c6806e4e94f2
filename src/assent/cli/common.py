"""What all commands share: the application, its consoles, common arguments, derived help."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from signal import SIGINT, SIGTERM
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import OptionInfo

from assent.errors import ConfigError, StoppedError, TerminatedError
from assent.files.places import refuse_no_run
from assent.reporting.door import Door
from assent.reporting.showing import only_here

if TYPE_CHECKING:
    from assent.reporting.grid import Grid

# What people look for under another name, and where it is.
OTHER_WORDS = {"compare": "report", "predict": "complete", "fit": "train", "init": "build"}


class Commands(TyperGroup):
    """All commands, which answer to a word that is none with the one that does it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in OTHER_WORDS:
            word = args[0]
            ctx.fail(f"No such command {word!r}. Did you mean {OTHER_WORDS[word]!r}?")
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
LARGEST_SIZE = 1e6  # GB
SHARED = ("train", "tune", "evaluate", "complete")  # what several processes do together
WIDE = 120  # columns where no terminal says how many it has

out = Door(width=None if sys.stdout.isatty() else WIDE)  # what a command finds
notes = Door(stderr=True)  # progress and remarks; --quiet leaves them out
err = Door(stderr=True)  # errors and warnings, which are always shown

# With --json, what a command tells is gathered here and printed as one object when it ends.
_document: dict[str, Any] | None = None

# A {word} in a help text stands for the names in this table, which is only looked at when help is
# shown: `assent --help` need not load what defines them.
TABLES = {
    "models": ("assent.choices", "model_names"),
    "presets": ("assent.choices", "preset_names"),
    "datasets": ("assent.choices", "dataset_names"),
    "rules": ("assent.deciding.naming", "rule_names"),
    "rules_in_words": ("assent.deciding.naming", "rules_in_words"),
    "deals": ("assent.building.recipe", "DEALS"),
    "engines": ("assent.files.engines.choosing", "ENGINES"),
    "recipes": ("assent.building.drawing", "recipe_names"),
    "layouts": ("assent.files.benchmarks", "LAYOUTS"),
    "fact_files": ("assent.files.facts", "WRITERS"),
    "written": ("assent.files.formats", "writable_suffixes"),
}


# What stands behind an option in help, by the type of its value.
METAVARS = {Path: "PATH", str: "TEXT", int: "N", float: "NUMBER"}


class Listing(TyperCommand):
    """A command whose help fills in lists of names from the tables that define them.

    It names values in words, and shows no type of Python.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for parameter in self.params:
            if text := getattr(parameter, "help", None):
                parameter.help = listed(text)  # type: ignore[attr-defined]
            if parameter.param_type_name == "argument":  # its name says enough
                parameter.display_type_rich = _no_type  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """`[OPTIONS] BENCHMARK [PATH]`."""
        arguments = [p for p in self.get_params(ctx) if p.param_type_name == "argument"]
        names = [(argument.metavar or str(argument.name).upper()) for argument in arguments]
        pieces = [
            name if argument.required else f"[{name}]"
            for name, argument in zip(names, arguments, strict=True)
        ]
        return [self.options_metavar or "", *pieces]


def _no_type(ctx: Any) -> None: ...


def _name_value(annotation: Any) -> None:
    """Gives an option a word for its value, if it has none of its own."""
    if get_origin(annotation) is not Annotated:
        return
    kind, *infos = get_args(annotation)
    inner = [part for each in get_args(kind) for part in (each, *get_args(each))]
    word = next((word for plain, word in METAVARS.items() if plain in (kind, *inner)), None)
    for info in infos:
        if isinstance(info, OptionInfo) and info.metavar is None:
            info.metavar = "NAME" if word and info.autocompletion else word


def listed(text: str) -> str:
    """The text with the names of each table that it mentions."""
    for word in TABLES:
        if f"{{{word}}}" in text:
            text = text.replace(f"{{{word}}}", ", ".join(names_of(word)))
    return text


def names_of(word: str) -> list[str]:
    """The names in a table."""
    module, name = TABLES[word]
    table = getattr(import_module(module), name)
    return list(table() if callable(table) else table)


def one_of(word: str) -> Callable[[str], list[str]]:
    """Completes a name of a table in the shell."""
    return lambda incomplete: [name for name in names_of(word) if name.startswith(incomplete)]


def dataset_or_path(incomplete: str) -> list[str]:
    """Completes the name of a data set in the shell, or a path."""
    folder = Path(incomplete if incomplete.endswith("/") else Path(incomplete).parent)
    prefix = "" if "/" not in incomplete else incomplete.rpartition("/")[0] + "/"
    paths = sorted(folder.glob("*")) if folder.is_dir() else []
    shown = [f"{prefix}{path.name}{'/' if path.is_dir() else ''}" for path in paths]
    return [name for name in (*names_of("datasets"), *shown) if name.startswith(incomplete)]


def no_less_than(least: int) -> Callable[[typer.CallbackParam, int], int]:
    """Refuses a smaller number, as the callback of an option."""

    def check(option: typer.CallbackParam, value: int) -> int:
        if value < least:
            raise ConfigError(f"{option.opts[0]} {value}; choose {least} or more")
        return value

    return check


Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print no progress: only what is found, and warnings."),
]
Tensorboard = Annotated[
    bool, typer.Option("--tensorboard", help="Also show it in TensorBoard, in RUN/tensorboard.")
]
MLflowAddress = Annotated[
    str | None,
    typer.Option("--mlflow", metavar="URI", help="Also tell MLflow, as in sqlite:///runs.db."),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object in place of tables and sentences.")
]


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
            _name_value(parameter.annotation)
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


BenchmarkFolder = Annotated[
    str,
    typer.Argument(
        metavar="BENCHMARK",
        autocompletion=dataset_or_path,
        help="A benchmark: the folder that `assent build` made, or the name of a data set that is "
        "one (fb14k-qaq).",
    ),
]
Graph = Annotated[
    str,
    typer.Argument(
        metavar="KB",
        autocompletion=dataset_or_path,
        help="Your graph: a file or folder of facts, a name that `assent data list` shows, or a "
        "SPARQL store (sparql+http://host/path).",
    ),
]
Language = Annotated[
    str,
    typer.Option(
        help="Languages for readable names in RDF, the best first, as in en,de. A name without a "
        "language comes after these, then any other."
    ),
]
TypeRelation = Annotated[
    list[str] | None,
    typer.Option(
        help="A relation of your graph that says which type an entity has, as rdf:type does; may "
        "be given again."
    ),
]
SubclassRelation = Annotated[
    list[str] | None,
    typer.Option(
        help="A relation of your graph that puts a type under another, as rdfs:subClassOf does; "
        "may be given again."
    ),
]
Predict = Annotated[
    list[str] | None,
    typer.Option(
        help="Also find new facts of this RDF relation, which is otherwise read as a type, a name "
        "or part of the schema (rdf:type, rdfs:subClassOf, ...); may be given again."
    ),
]
KeepSameAs = Annotated[
    bool,
    typer.Option("--keep-same-as", help="Do not merge entities that owl:sameAs says are the same."),
]
KeepLiterals = Annotated[
    bool,
    typer.Option(
        help="Keep facts whose tail is an RDF literal (a number, a date, a text), with the literal "
        "as an entity."
    ),
]
KeepBlankNodes = Annotated[
    bool, typer.Option(help="Keep facts about RDF blank nodes, with the nodes as entities.")
]


def _a_run(folder: Path) -> Path:
    """Refuses what is no run at once, not after seconds of loading."""
    refuse_no_run(folder)
    return folder


def _runs(folders: list[Path]) -> list[Path]:
    return [_a_run(folder) for folder in folders]


RunFolder = Annotated[
    Path,
    typer.Argument(
        metavar="RUN", callback=_a_run, help="A run: the folder that `assent train` made."
    ),
]
RunFolders = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...", callback=_runs, help="Runs: folders that `assent train` made."
    ),
]
MaxSize = Annotated[
    float | None,
    typer.Option(
        help="GB that a gzipped file may unpack to, where 100 times its size is too little."
    ),
]
Unfinished = Annotated[
    bool,
    typer.Option(
        "--unfinished",
        help="Do not wait for the end of a training: use the best weights that it has saved so "
        "far.",
    ),
]
OnBenchmark = Annotated[
    Path | None,
    typer.Option(
        "--on",
        metavar="BENCHMARK",
        help="Ask the queries of this benchmark instead of those of the run's own; it must have "
        "the same train facts.",
    ),
]
AtBenchmark = Annotated[
    str | None,
    typer.Option(
        "--benchmark",
        metavar="DIR",
        help="Where the benchmark that the run was trained on is now, if it was moved.",
    ),
]
Split = Annotated[
    str, typer.Option(help="Which queries to ask: test, to measure on, or valid, to tune on.")
]


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


def in_bytes(gigabytes: float | None, option: str = "--max-size") -> int | None:
    """What --max-size, or another option, says."""
    if gigabytes is None:
        return None
    if not 0 < gigabytes < LARGEST_SIZE:
        raise ConfigError(f"{option} {gigabytes}; choose more than 0 and less than a million GB")
    return int(gigabytes * 1e9)
