"""report: runs as one page for people."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.arguments import AtBenchmark, MLflowAddress, RunFolders, Tensorboard, Unfinished
from assent.cli.common import command, notes, tell


@command()
def report(
    run_folders: RunFolders,
    out_file: Annotated[
        Path,
        typer.Option(
            "--out",
            help="The HTML file; it needs no other file, and replaces a page that is there.",
        ),
    ] = Path("report.html"),
    facts: Annotated[
        Path | None,
        typer.Option(
            help="A .jsonl file of `assent complete --out` with the new facts to show; without it, "
            "those that are kept in the folders of the runs."
        ),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Also write the charts as SVG files to this folder.")
    ] = None,
    benchmark: AtBenchmark = None,
    unfinished: Unfinished = False,
    tensorboard: Tensorboard = False,
    mlflow: MLflowAddress = None,
) -> None:
    """Write one HTML page about a run, to read and to pass on.

    First the new facts of `assent complete`, if there are any, with evidence and probability; then
    how good the decisions are, by kind of query and by relation. Several runs on one benchmark
    stand side by side, the highest F1 first in one table; the first run named is the one that the
    others are compared with. Needs `assent tune` before it.
    """
    from assent.files.atomic import refuse_to_write
    from assent.reporting.progress import steps
    from assent.reporting.tracking import refuse_untrackable, track
    from assent.verbs.report import is_page
    from assent.verbs.report import report as write_report
    from assent.verbs.runs import load_run

    refuse_untrackable(tensorboard, mlflow)
    refuse_to_write(out_file, is_alike=is_page)
    runs = [load_run(folder, benchmark=benchmark, unfinished=unfinished) for folder in run_folders]
    with steps(notes) as progress:
        path = write_report(runs, out_file, facts=facts, figures=figures, progress=progress)
    tell("report", path, f" ({path.stat().st_size / 1e6:.1f} MB)")
    if figures is not None:
        tell("figures", figures)
    for folder in run_folders:
        track(folder, [path], tensorboard=tensorboard, mlflow=mlflow)
