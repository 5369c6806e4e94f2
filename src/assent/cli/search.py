"""search: settings for a model, found by training it many times."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.common import BenchmarkFolder, command, err, out, say

SHOWN = 10  # trainings in the table


@command()
def search(
    benchmark: BenchmarkFolder,
    model: Annotated[str, typer.Option(help="One of {models}.")],
    folder: Annotated[
        Path, typer.Option("--out", help="A folder for the search; one that is there goes on.")
    ],
    minutes: Annotated[float, typer.Option(help="How long to search, now.")] = 60.0,
    trials: Annotated[
        int | None, typer.Option(help="End after so many trainings, with those before now.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Trainings side by side, a process each.")] = 1,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting for all trainings, as in train.epochs=10; it is not searched."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of what is tried.")] = 0,
) -> None:
    """Find good settings for a model: train it many times, and end bad trainings early.

    Needs Optuna (pip install optuna). Valid alone decides; test has no part in it. Stopped or
    killed, the same command goes on. The best settings go to OUT/best.toml, for `assent train
    --settings`; OUT/trials.tsv has all trainings, and OUT/search.svg a picture of them.
    """
    from rich.table import Table

    from assent.verbs.search import BEST, CHART, TABLE, Trial
    from assent.verbs.search import search as run_search

    def told(trial: Trial) -> None:
        err.print(f"training {trial.number}: {trial.score:.4f}, {trial.state}")

    found = run_search(
        benchmark,
        model,
        out=folder,
        minutes=minutes,
        trials=trials,
        workers=workers,
        changes=changes or (),
        seed=seed,
        told=told,
    )
    names = list(found.trials[0].settings)
    table = Table(box=None)
    for name in ("training", found.settings.train.stop_on, "epochs", "state"):
        table.add_column(name, justify="left" if name == "state" else "right")
    for name in names:
        table.add_column(name.partition(".")[2].replace("_", " "), justify="right")
    for trial in found.trials[:SHOWN]:
        shown = (str(trial.settings[name]) for name in names)
        table.add_row(
            str(trial.number), f"{trial.score:.4f}", str(trial.epochs), trial.state, *shown
        )
    out.print(table)
    say(f"{len(found.trials)} trainings, all of them: {folder / TABLE}, {folder / CHART}")
    say(f"best settings: {folder / BEST}")
    say(f"assent train {benchmark} --model {model} --settings {folder / BEST} --out RUN")
