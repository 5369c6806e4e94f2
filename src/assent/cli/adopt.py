"""adopt: a model that another library trained becomes a run."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.common import command, say, tell
from assent.cli.helping import dataset_or_path


@command()
def adopt(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A LibKGE checkpoint (.pt) or experiment folder, or a folder that "
            "assent.adapters.pykeen.export wrote.",
        ),
    ],
    benchmark: Annotated[
        str,
        typer.Option(
            metavar="BENCHMARK",
            autocompletion=dataset_or_path,
            help="A benchmark of the graph that the model was trained on: a folder of "
            "`assent build`, or the name of a data set.",
        ),
    ],
    run_folder: Annotated[Path, typer.Option("--out", help="The folder of the new run.")],
    dataset: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The LibKGE dataset that a checkpoint was trained on: it has the names.",
        ),
    ] = None,
) -> None:
    """Make a run of a model that LibKGE or PyKEEN trained.

    `assent tune`, `evaluate`, `complete`, `ask` and `report` take it like one of `assent train`.
    """
    from assent.files.runs import TRACE
    from assent.reporting.grid import counted
    from assent.training.trace import read_events
    from assent.verbs.adopt import adopt as run_adopting

    run = run_adopting(source, benchmark, out=run_folder, dataset=dataset)
    found = read_events(run_folder / TRACE)[0]
    names = run.benchmark.vocabulary
    say(
        f"{run.settings.name}, trained by {found['library']}: "
        f"{counted(names.num_entities, 'entity')}, {counted(names.num_relations, 'relation')}"
    )
    if found["learned"] is None:
        say("what it learned from is not known: if it saw facts of test, figures will be too good")
    elif any(found["learned"].values()):
        told = " and ".join(f"{count:,} of {split}" for split, count in found["learned"].items())
        say(f"it learned from facts that are asked for here, {told}: figures will be too good")
    tell("run", run_folder)
