"""triples: given false facts told from true ones."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.arguments import AtBenchmark, RunFolder, Unfinished
from assent.cli.common import as_json, command, show


@command()
def triples(
    run_folder: RunFolder,
    valid_false: Annotated[
        Path, typer.Argument(help="False facts to find thresholds with, in any format of a graph.")
    ],
    test_false: Annotated[Path, typer.Argument(help="False facts to measure on.")],
    benchmark: AtBenchmark = None,
    unfinished: Unfinished = False,
) -> None:
    """Measure how a model tells true facts from given false ones.

    A fact is called true if its score is above a threshold, one for each relation, found on valid
    (Socher et al., 2013). Prints accuracy and F1.
    """
    from assent.reporting.measures import triples_grid
    from assent.verbs.runs import load_run
    from assent.verbs.triples import classify_triples

    run = load_run(run_folder, benchmark=benchmark, unfinished=unfinished)
    found = classify_triples(run, valid_false, test_false)
    if not as_json(found.to_json):
        show(triples_grid(found))
