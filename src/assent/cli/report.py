"""report: runs as one page for people."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.common import RunFolders, Unfinished, command, notes, tell


@command()
def report(
    run_folders: RunFolders,
    out_file: Annotated[
        Path,
        typer.Option(
            "--out", help="The HTML file; it needs no other, and replaces one that is there."
        ),
    ] = Path("report.html"),
    facts: Annotated[
        Path | None,
        typer.Option(
            help="New facts to show, a .jsonl file of `assent complete`; without it, those that it "
            "left in the folders of the runs."
        ),
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="A folder for the charts, as SVG.")] = None,
    unfinished: Unfinished = False,
) -> None:
    """Write one HTML page about a run, or several.

    New facts first, with what may be expected of them; then decisions, relations, queries, curves.
    """
    from assent.reporting.progress import steps
    from assent.verbs.report import report as write_report
    from assent.verbs.runs import load_run

    runs = [load_run(folder, unfinished=unfinished) for folder in run_folders]
    with steps(notes) as progress:
        path = write_report(runs, out_file, facts=facts, figures=figures, progress=progress)
    tell("report", path, f" ({path.stat().st_size / 1e6:.1f} MB)")
    if figures is not None:
        tell("figures", figures)
