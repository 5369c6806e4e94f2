"""pairs: all pairs of entities, ranked for each relation."""

import json
from typing import Annotated

import typer

from assent.cli.common import AsJson, AtBenchmark, RunFolder, Split, Unfinished, command, err, out


@command()
def pairs(
    run_folder: RunFolder,
    k: Annotated[int, typer.Option(help="How many of the best pairs of a relation count.")] = 100,
    split: Split = "test",
    relations: Annotated[
        list[str] | None, typer.Option("--relation", help="Only this one; may be given again.")
    ] = None,
    benchmark: AtBenchmark = None,
    unfinished: Unfinished = False,
    as_json: AsJson = False,
) -> None:
    """Rank all pairs of entities for each relation.

    Are the true pairs of a relation among its best? (Wang et al., 2019)
    """
    from assent.reporting.measures import pairs_grid
    from assent.reporting.progress import queries
    from assent.reporting.rendering import terminal
    from assent.verbs.pairs import rank_pairs
    from assent.verbs.runs import load_run

    with queries(err) as progress:
        found = rank_pairs(
            load_run(run_folder, benchmark=benchmark, unfinished=unfinished),
            k,
            split,
            relations,
            progress,
        )
    if as_json:
        print(json.dumps(found.to_json(), indent=1))
    else:
        out.print(terminal(pairs_grid(found)))
