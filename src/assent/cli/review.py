"""review: a page where people decide about proposals."""

import getpass
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assent.cli.common import RunFolder, command, err, say

if TYPE_CHECKING:
    from collections.abc import Mapping

PORT = 8321


@command()
def review(
    run_folder: RunFolder,
    reviewers: Annotated[
        list[str] | None,
        typer.Option(
            "--reviewer", help="Who decides; may be given again: each gets an address of their own."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; by default only this machine can ask.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0: any that is free.")] = PORT,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--name", help="Another name by which people reach this machine; may be given again."
        ),
    ] = None,
    precision: Annotated[
        float, typer.Option(help="Draw what soonest promises this share of right facts.")
    ] = 0.9,
    confidence: Annotated[
        float, typer.Option(help="The probability with which a promise is kept.")
    ] = 0.95,
    export_file: Annotated[
        Path | None,
        typer.Option("--export", help="Serve nothing; write all decisions to this .tsv file."),
    ] = None,
    import_file: Annotated[
        Path | None,
        typer.Option("--import", help="Serve nothing; add the decisions of such a .tsv file."),
    ] = None,
) -> None:
    """A page on this machine where people decide about new facts, with their evidence.

    The proposals are made once, when the page is first opened. Every decision is on the disk, in
    RUN/review, before the next one is shown as done.
    """
    from assent.reporting.progress import minutes_of_queries
    from assent.reviewing.exchange import export_labels, import_labels
    from assent.reviewing.proposals import has_proposals
    from assent.verbs.review import propose
    from assent.verbs.review import review as open_review
    from assent.verbs.runs import load_run
    from assent.verbs.serve import serve

    if not has_proposals(run_folder):
        with minutes_of_queries(err) as progress:
            propose(load_run(run_folder), progress=progress)
    with closing(open_review(run_folder, precision, confidence)) as opened:
        if import_file is not None:
            found = import_labels(import_file, opened.labels, opened.proposals)
            say(
                f"{found.added:,} decisions added, {found.there:,} were there already; "
                f"{found.strange:,} about facts that are no proposals here left out"
            )
        if export_file is not None:
            number = export_labels(export_file, opened.labels, opened.proposals)
            say(f"{number:,} decisions: {export_file}")
        if export_file is not None or import_file is not None:
            return
        people = reviewers or [getpass.getuser()]
        with suppress(KeyboardInterrupt):
            serve(opened, people, host=host, port=port, names=names or [], ready=_ready)
        say(f"{len(opened.labels.current()):,} decisions are kept in {opened.labels.path}")


def _ready(addresses: "Mapping[str, str]") -> None:
    """Where to go; printed at once, for whoever waits for it."""
    for reviewer, address in addresses.items():
        say(f"{reviewer}: {address}")
    say("Open it in a browser. Whoever has an address decides in that name. Ctrl-C ends it.")
