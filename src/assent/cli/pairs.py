"""pairs: all pairs of entities, ranked for each relation."""

from typing import Annotated

import typer

from assent.cli.arguments import AtBenchmark, RunFolder, Split, Unfinished
from assent.cli.common import as_json, command, notes, show


@command()
def pairs(
    run_folder: RunFolder,
    k: Annotated[int, typer.Option(help="How many of the first pairs of a relation count.")] = 100,
    split: Split = "test",
    relations: Annotated[
        list[str] | None,
        typer.Option("--relation", help="Measure only this relation; may be given again."),
    ] = None,
    benchmark: AtBenchmark = None,
    unfinished: Unfinished = False,
) -> None:
    """Measure how a model ranks all pairs of entities, by relation.

    All pairs (head, tail) of a relation are put in the order of their scores; the table says how
    many of the true ones are among the first k (Wang et al., 2019).
    """
    from assent.reporting.measures import pairs_grid
    from assent.reporting.progress import queries
    from assent.verbs.pairs import rank_pairs
    from assent.verbs.runs import load_run

    with queries(notes) as progress:
        found = rank_pairs(
            load_run(run_folder, benchmark=benchmark, unfinished=unfinished),
            k,
            split,
            relations,
            progress,
        )
    if not as_json(found.to_json):
        show(pairs_grid(found))
