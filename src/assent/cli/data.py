"""Commands about named data: list, fetch; and the demonstration on the built-in graph."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.common import app, err, out, say

data_app = typer.Typer(help="Named data sets.", no_args_is_help=True)
app.add_typer(data_app, name="data")


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--out", help="Where everything goes.")] = Path(
        "assent-demo"
    ),
) -> None:
    """The whole path on the built-in world graph, with a report."""
    from assent.experiment import demo as run_demo
    from assent.reporting.progress import steps
    from assent.reporting.results import classification_table
    from assent.reporting.samples import sample_decisions, sample_queries
    from assent.reporting.tables import KIND_NAMES, audit_table, benchmark_line, queries_table

    with steps(err) as progress:
        made = run_demo(folder, progress)
    out.print("The world graph as a benchmark:")
    out.print(queries_table(made.benchmark))
    say(benchmark_line(made.benchmark))
    out.print("\nSome of its test queries:")
    for kind, query in sample_queries(made.benchmark, each=2):
        say(f"  {KIND_NAMES[kind]:<20} {query}")
    out.print("\nThe audit:")
    out.print(audit_table(made.findings))
    out.print("\nWhat ComplEx accepts on test, with a threshold for each relation found on valid:")
    out.print(classification_table(made.found))
    out.print("\nThe surest of each of ten relations:")
    for verdict, decision in sample_decisions(made.found):
        say(f"  {verdict:<18} {decision}")
    say(f"\nreport: {made.report}")


@data_app.command("list")
def data_list() -> None:
    """Show the named data sets, and which of them are here."""
    from assent.datasets import status
    from assent.reporting.tables import datasets_table

    out.print(datasets_table(status()))


@data_app.command("fetch")
def data_fetch(
    name: Annotated[str, typer.Argument(help="A name that `assent data list` shows.")],
    to: Annotated[
        Path | None, typer.Option(help="Instead of $ASSENT_DATA or the user's cache folder.")
    ] = None,
) -> None:
    """Download a data set, checked, into the cache folder."""
    from assent.datasets import fetch
    from assent.reporting.progress import downloads

    with downloads(err) as progress:
        folder = fetch(name, to, progress)
    say(f"{name}: {folder}")
