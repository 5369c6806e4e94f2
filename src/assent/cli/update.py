"""update: a trained run learns of new facts and entities."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.arguments import AtBenchmark, RunFolder
from assent.cli.common import as_json, command, notes, say, show, tell


@command()
def update(
    run_folder: RunFolder,
    facts: Annotated[
        str, typer.Option("--facts", help="A file or folder of new facts; known ones are skipped.")
    ],
    out_folder: Annotated[Path, typer.Option("--out", help="The folder of the new run.")],
    removed: Annotated[
        str | None, typer.Option("--removed", help="A file of facts that are no longer true.")
    ] = None,
    entity_names: Annotated[
        Path | None,
        typer.Option(help="A file of readable names of new entities: TSV (entity, label) or JSON."),
    ] = None,
    types: Annotated[
        Path | None,
        typer.Option(
            help="A file that says which types new entities have: TSV (entity, type) or JSON "
            "(entity -> [types])."
        ),
    ] = None,
    thresholds: Annotated[
        str,
        typer.Option(
            help="tuned: found anew on valid, by the rule of the old ones; or kept as they were."
        ),
    ] = "tuned",
    held_out: Annotated[
        float, typer.Option(help="The share of the new facts that valid and test ask for.")
    ] = 0.2,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="One setting, as in update.epochs=4; may be given again.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides which new facts are held out.")] = 0,
    benchmark: AtBenchmark = None,
) -> None:
    """Teach a trained run new facts and entities.

    The model starts from what it knows and learns what changed, in a small part of the time of a
    training. The new run is one like any other, with a benchmark of its own in its folder. On some
    of the new facts, which are held out, the thresholds of the run are checked. Names and types of
    new entities come from the files given or from the facts' own file, if it is RDF or KGX; the
    model text knows these entities by them. After Ctrl-C, the same command goes on.
    """
    from assent.reporting.progress import watching
    from assent.reporting.updates import change_lines, stale_grid, stale_line, update_json
    from assent.verbs.runs import load_run
    from assent.verbs.update import update as run_update

    run = load_run(run_folder, benchmark=benchmark)
    with watching(notes) as watcher:
        updated = run_update(
            run,
            facts,
            removed,
            entity_names=entity_names,
            types=types,
            out=out_folder,
            thresholds=thresholds,
            held_out=held_out,
            changes=changes or (),
            seed=seed,
            watcher=watcher,
        )
    if not as_json(lambda: update_json(updated.change, updated.stale)):
        for line in change_lines(updated.change):
            say(line)
        show(stale_grid(updated.stale, updated.change.benchmark.vocabulary))
    if updated.stale:
        say(stale_line(updated.stale))
    if updated.decider is None:
        say(f"no thresholds were taken over; find some: assent tune {out_folder}")
    else:
        tell("thresholds", thresholds, f", by rule {updated.decider.rule}")
    tell("run", out_folder)
