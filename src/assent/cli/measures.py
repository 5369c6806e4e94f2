"""Commands for further measures of a run: triples, pairs."""

import json
from pathlib import Path
from typing import Annotated

import typer

from assent.cli.common import AsJson, RunFolder, app, err, out


@app.command()
def triples(
    run_folder: RunFolder,
    valid_false: Annotated[
        Path, typer.Argument(help="False facts to find thresholds with, in any format of a graph.")
    ],
    test_false: Annotated[Path, typer.Argument(help="False facts to measure on.")],
    as_json: AsJson = False,
) -> None:
    """Tell true facts from given false ones: accuracy and F1 (Socher et al., 2013)."""
    from assent.assessing import classify_triples
    from assent.experiment import load_run
    from assent.reporting.measures import triples_table

    found = classify_triples(load_run(run_folder), valid_false, test_false)
    if as_json:
        print(json.dumps(found.to_json(), indent=1))
    else:
        out.print(triples_table(found))


@app.command()
def pairs(
    run_folder: RunFolder,
    k: Annotated[int, typer.Option(help="How many of the best pairs of a relation count.")] = 100,
    split: Annotated[str, typer.Option(help="test or valid.")] = "test",
    relations: Annotated[
        list[str] | None, typer.Option("--relation", help="Only this one; may be given again.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Rank all pairs of entities for each relation (Wang et al., 2019)."""
    from assent.assessing import rank_pairs
    from assent.experiment import load_run
    from assent.reporting.measures import pairs_table
    from assent.reporting.progress import queries

    with queries(err) as progress:
        found = rank_pairs(load_run(run_folder), k, split, relations, progress)
    if as_json:
        print(json.dumps(found.to_json(), indent=1))
    else:
        out.print(pairs_table(found))
