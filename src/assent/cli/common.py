"""What all commands share: the application, its consoles, and where data are."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from assent.errors import DataError

app = typer.Typer(
    help="Knowledge-base completion that decides.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

WIDE = 120  # columns where no terminal says how many it has

out = Console(emoji=False, width=None if sys.stdout.isatty() else WIDE)
err = Console(stderr=True, emoji=False)

BenchmarkFolder = Annotated[
    str, typer.Argument(metavar="BENCHMARK", help="A benchmark folder, or the name of one.")
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder of `assent train`.")]
OnBenchmark = Annotated[
    Path | None,
    typer.Option("--on", metavar="BENCHMARK", help="Another benchmark of the same train facts."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def say(line: str) -> None:
    """A line as it is: no colours, no breaks."""
    out.print(line, markup=False, highlight=False, soft_wrap=True)


def place(name: str) -> Path:
    """A path, or where the data set of this name is."""
    from assent.datasets import located

    path = Path(name)
    if path.exists():
        return path
    folder = located(name)
    if folder is None:
        raise DataError(f"{name}: no such file, folder or data set; `assent data list` shows names")
    return folder
