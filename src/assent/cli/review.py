"""review: a page where people decide about proposals."""

import getpass
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
) -> None:
    """A page on this machine where people decide about new facts, with their evidence.

    The proposals are made once, when the page is first opened. Every decision is on the disk, in
    RUN/review, before the next one is shown as done.
    """
    from assent.reporting.progress import minutes_of_queries
    from assent.reviewing.proposals import has_proposals
    from assent.verbs.review import propose
    from assent.verbs.review import review as open_review
    from assent.verbs.runs import load_run
    from assent.verbs.serve import serve

    if not has_proposals(run_folder):
        with minutes_of_queries(err) as progress:
            propose(load_run(run_folder), progress=progress)
    opened = open_review(run_folder)
    try:
        serve(
            opened,
            reviewers or [getpass.getuser()],
            host=host,
            port=port,
            names=names or [],
            ready=_ready,
        )
    except KeyboardInterrupt:
        pass
    finally:
        opened.close()
    say(f"{len(opened.labels.current()):,} decisions are kept in {opened.labels.path}")


def _ready(addresses: "Mapping[str, str]") -> None:
    """Where to go; printed at once, for whoever waits for it."""
    for reviewer, address in addresses.items():
        say(f"{reviewer}: {address}")
    say("Open it in a browser. Whoever has an address decides in that name. Ctrl-C ends it.")
