"""verify: whether a folder or file is as assent wrote it."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.arguments import AtBenchmark
from assent.cli.common import as_json, command, say


@command()
def verify(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A benchmark, a run, a pack, or a file of facts.")
    ],
    renew: Annotated[
        bool,
        typer.Option(
            "--renew",
            help="Take files that you changed by hand as they are, if they still fit one another.",
        ),
    ] = False,
    benchmark: AtBenchmark = None,
) -> None:
    """Check all that a folder or file holds, a line each; exit 1 if some is wrong or missing."""
    from assent.verbs.verify import BAD
    from assent.verbs.verify import verify as check_all

    checks = check_all(path, benchmark=benchmark, renew=renew)
    if not as_json(lambda: {"checks": [check._asdict() for check in checks]}):
        for name, state, detail in checks:
            say(f"{state:9} {name}{f': {detail}' if detail else ''}")
    if any(check.state in BAD for check in checks):
        raise typer.Exit(1)
