"""The command for new facts: complete."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.common import RunFolder, app, err, out, say
from assent.errors import StoppedError


@app.command()
def complete(
    run_folder: RunFolder,
    out_file: Annotated[
        Path,
        typer.Option("--out", help="Accepted facts: a .tsv, .nt, .parquet or .jsonl file."),
    ],
    precision: Annotated[
        float | None,
        typer.Option(help="What share is to be right; else the run's decider decides."),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="How sure the promise of that precision is to be.")
    ] = 0.95,
    review_file: Annotated[
        Path | None, typer.Option("--review", help="Where doubtful facts go, for a person.")
    ] = None,
    review_above: Annotated[
        float, typer.Option(help="How probable a doubtful fact must be.")
    ] = 0.5,
    relations: Annotated[
        list[str] | None, typer.Option("--relations", help="Only this one; may be given again.")
    ] = None,
    anchors_file: Annotated[
        Path | None, typer.Option("--anchors", help="Ask only about these entities, one a line.")
    ] = None,
    max_facts: Annotated[
        int | None, typer.Option(help="The most facts in each file; the most probable are kept.")
    ] = None,
    functional: Annotated[
        bool,
        typer.Option(
            "--functional/--no-functional",
            help="Relations that have one answer in the graph get no second one.",
        ),
    ] = True,
    symmetric: Annotated[
        bool,
        typer.Option(
            "--symmetric/--no-symmetric",
            help="Relations that hold both ways in the graph are completed both ways.",
        ),
    ] = True,
) -> None:
    """New facts: ask all that the graph may ask, and accept what is sure enough."""
    from assent.experiment import complete as run_completion
    from assent.experiment import load_run
    from assent.files.annotations import read_list
    from assent.files.completions import partial, refuse_suffix, write_completions
    from assent.reporting.completions import relations_completed, summary_lines
    from assent.reporting.progress import minutes_of_queries
    from assent.training.interrupts import Interrupts

    files = [out_file] if review_file is None else [out_file, review_file]
    for path in files:
        refuse_suffix(path)
    run = load_run(run_folder)
    with Interrupts() as interrupts, minutes_of_queries(err) as progress:
        found = run_completion(
            run,
            precision,
            confidence=confidence,
            review_above=None if review_file is None else review_above,
            relations=relations,
            anchors=read_list(anchors_file) if anchors_file else None,
            max_facts=max_facts,
            functional=functional,
            symmetric=symmetric,
            progress=progress,
            stopping=lambda: interrupts.wanted is not None,
        )
    if not found.finished:
        files = [partial(path) for path in files]
    for path, facts in zip(files, (found.accepted, found.review), strict=False):
        write_completions(path, facts, found.vocabulary)
    out.print(relations_completed(found))
    for line in summary_lines(found):
        say(line)
    for path, what in zip(files, ("accepted", "to review"), strict=False):
        say(f"{what}: {path}")
    if not found.finished:
        done = f"{len(found.outcomes):,} of {found.relations:,} relations"
        raise StoppedError(
            f"stopped; {' and '.join(map(str, files))} have what {done} gave", interrupts.wanted
        )
