"""Commands about named data: list, fetch."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.common import Commands, app, command, notes, show, tell
from assent.cli.helping import one_of

data_app = typer.Typer(
    cls=Commands, help="List data sets that have a name, and fetch them.", no_args_is_help=True
)
app.add_typer(data_app, name="data")


@command("list", into=data_app)
def data_list() -> None:
    """List the named data sets: what each is, and whether it is here."""
    from assent.datasets import status
    from assent.reporting.benchmarks import datasets_grid

    show(datasets_grid(status()))


@command("fetch", into=data_app)
def data_fetch(
    name: Annotated[
        str,
        typer.Argument(
            autocompletion=one_of("datasets"), help="A name that `assent data list` shows."
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            help="The folder for it, in place of $ASSENT_DATA or the user's cache folder."
        ),
    ] = None,
) -> None:
    """Download a data set, and check that every byte is right."""
    from assent.datasets import fetch
    from assent.reporting.progress import downloads

    with downloads(notes) as progress:
        folder = fetch(name, to, progress)
    tell(name, folder)
