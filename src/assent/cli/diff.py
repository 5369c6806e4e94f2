"""diff: what changed between two completions, or two benchmarks."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.arguments import no_less_than
from assent.cli.common import as_json, command, say, show


@command()
def diff(
    before: Annotated[
        Path,
        typer.Argument(
            metavar="A", help="Facts of `assent complete`, a completed run, or a benchmark."
        ),
    ],
    after: Annotated[Path, typer.Argument(metavar="B", help="The same, of a later time.")],
    known_before: Annotated[
        Path | None,
        typer.Option(help="The benchmark that A was made on: it tells which facts were known."),
    ] = None,
    known_after: Annotated[
        Path | None,
        typer.Option(help="The benchmark that B was made on: it tells which facts are known now."),
    ] = None,
    most: Annotated[
        int, typer.Option(callback=no_less_than(0), help="How many facts to list, at most.")
    ] = 20,
) -> None:
    """Show what changed between two completions or benchmarks, and why."""
    from assent.reporting.differences import differences_json, names_grid, tables
    from assent.verbs.diff import diff as compare

    found = compare(before, after, known_before=known_before, known_after=known_after)
    names = found.entities, found.relations
    if as_json(lambda: differences_json(found.what, found.facts, found.same, *names, found.labels)):
        return
    told = tables(found.facts, found.same, most, found.labels)
    show(told.summary)
    if any(map(any, names)):
        show(names_grid(*names, found.labels))
    if not found.facts:
        say(f"the same {found.what}")
    show(told.relations)
    show(told.facts)
