"""update: a trained run learns of new facts and entities."""

import json
from pathlib import Path
from typing import Annotated

import typer

from assent.cli.common import AsJson, RunFolder, command, err, out, say


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
        typer.Option("--set", help="One setting, as in update.epochs=4; may be given again."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides which new facts are held out.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Let a trained run learn of new facts and entities; again, to go on where it was stopped.

    The model starts from what it knows and learns what changed, in a small part of the time of a
    training. The new run is one like any other, with a benchmark of its own in its folder. On some
    of the new facts, which are held out, the thresholds of the run are checked.
    """
    from assent.reporting.progress import steps, watching
    from assent.reporting.rendering import terminal
    from assent.reporting.updates import change_lines, stale_grid, stale_line, update_json
    from assent.verbs.update import update as run_update

    with watching(err) as watcher, steps(err) as progress:
        updated = run_update(
            run_folder,
            facts,
            removed,
            out=out_folder,
            thresholds=thresholds,
            held_out=held_out,
            changes=changes or (),
            seed=seed,
            watcher=watcher,
            progress=progress,
        )
    if as_json:
        print(json.dumps(update_json(updated.change, updated.stale), indent=1))
        return
    for line in change_lines(updated.change):
        say(line)
    if updated.stale:
        out.print(terminal(stale_grid(updated.stale)))
        say(stale_line(updated.stale))
    if updated.decider is None:
        say(f"no thresholds were taken over; find some: assent tune {out_folder}")
    else:
        say(f"thresholds: {thresholds}, by rule {updated.decider.rule}")
    say(f"run: {out_folder}")
