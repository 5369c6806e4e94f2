"""What all commands share: the application, its consoles, common arguments, derived help."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from assent.cli.door import Door
from assent.errors import ConfigError

app = typer.Typer(
    help="Find facts that are missing from a knowledge base, and decide which of them to add.\n\n"
    "`assent demo` shows all of it. On a graph of your own: build, train, tune, evaluate, "
    "complete, report.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

DEBUG = "--debug"  # anywhere in a command; `main` takes it out
LARGEST_SIZE = 1e6  # GB
WIDE = 120  # columns where no terminal says how many it has

out = Door(width=None if sys.stdout.isatty() else WIDE)
err = Door(stderr=True)

# A {word} in a help text stands for the names in this table, which is only looked at when help is
# shown: `assent --help` need not load what defines them.
TABLES = {
    "models": ("assent.settings", "model_names"),
    "presets": ("assent.training.presets", "PRESETS"),
    "rules": ("assent.reporting.deciders", "rules_in_words"),
    "deals": ("assent.building.recipe", "DEALS"),
    "layouts": ("assent.files.benchmarks", "LAYOUTS"),
    "fact_files": ("assent.files.facts", "WRITERS"),
    "written": ("assent.files.formats", "writable_suffixes"),
}


class Listing(TyperCommand):
    """A command whose help fills in lists of names from the tables that define them."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for parameter in self.params:
            if text := getattr(parameter, "help", None):
                parameter.help = listed(text)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def listed(text: str) -> str:
    """The text with the names of each table that it mentions."""
    for word, (module, name) in TABLES.items():
        if f"{{{word}}}" in text:
            table = getattr(import_module(module), name)
            names = table() if callable(table) else table
            text = text.replace(f"{{{word}}}", ", ".join(names))
    return text


def command(name: str | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a function a command of the application."""
    return app.command(name, cls=Listing)


BenchmarkFolder = Annotated[
    str,
    typer.Argument(
        metavar="BENCHMARK", help="A folder of `assent build`, or the name of a data set."
    ),
]
Graph = Annotated[
    str,
    typer.Argument(
        metavar="KB",
        help="A file or folder of facts, a name that `assent data list` shows, or a SPARQL store: "
        "sparql+http://host/path.",
    ),
]
Language = Annotated[
    str,
    typer.Option(help="RDF names: in the first of these languages, then without one, then any."),
]
TypeRelation = Annotated[
    list[str] | None,
    typer.Option(help="A relation that gives types, as rdf:type does; may be given again."),
]
SubclassRelation = Annotated[
    list[str] | None,
    typer.Option(help="A relation between types, as rdfs:subClassOf is; may be given again."),
]
Predict = Annotated[
    list[str] | None,
    typer.Option(
        help="Keep rdf:type, or whatever else of RDF is no relation, as a relation of the graph; "
        "may be given again."
    ),
]
KeepSameAs = Annotated[
    bool, typer.Option("--keep-same-as", help="Keep entities apart that owl:sameAs makes one.")
]
KeepLiterals = Annotated[bool, typer.Option(help="Keep RDF literals as entities.")]
KeepBlankNodes = Annotated[bool, typer.Option(help="Keep RDF blank nodes as entities.")]
MaxSize = Annotated[
    float | None,
    typer.Option(
        help="GB that a gzipped file may unpack to, where 100 times its size is too little."
    ),
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder of `assent train`.")]
Unfinished = Annotated[
    bool,
    typer.Option(
        "--unfinished", help="Use the best weights so far of a run that has not ended yet."
    ),
]
OnBenchmark = Annotated[
    Path | None,
    typer.Option(
        "--on",
        metavar="BENCHMARK",
        help="Take the queries of another benchmark that has the same train facts.",
    ),
]
Split = Annotated[
    str, typer.Option(help="Which queries to ask: test, to measure on, or valid, to tune on.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


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
    """Prints a line as it is: no colours, no breaks."""
    out.print(line, soft_wrap=True)


def in_bytes(gigabytes: float | None) -> int | None:
    """What --max-size says."""
    if gigabytes is None:
        return None
    if not 0 < gigabytes < LARGEST_SIZE:
        raise ConfigError(f"--max-size {gigabytes}; choose more than 0 and less than a million GB")
    return int(gigabytes * 1e9)
