"""search: settings for a model, found by training it many times."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assent.cli.arguments import BenchmarkFolder
from assent.cli.common import command, notes, say, show, tell
from assent.cli.helping import one_of

if TYPE_CHECKING:
    from assent.reporting.grid import Grid
    from assent.verbs.search import Found

SHOWN = 10  # trainings in the table


@command()
def search(
    benchmark: BenchmarkFolder,
    model: Annotated[str, typer.Option(autocompletion=one_of("models"), help="One of {models}.")],
    folder: Annotated[
        Path,
        typer.Option("--out", help="The folder for the search; a search that is there goes on."),
    ],
    minutes: Annotated[float, typer.Option(help="How long to search from now on.")] = 60.0,
    trials: Annotated[
        int | None,
        typer.Option(
            help="Begin no more trainings than these, those of earlier searches in OUT included."
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(help="How many trainings to run at the same time, each in a process.")
    ] = 1,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Fix a setting, as in train.epochs=10: it is the same in all trainings, and not "
            "searched.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Which settings are drawn at random.")] = 0,
) -> None:
    """Find good settings for a model, by training it many times.

    Needs Optuna: pip install 'assent-kb[search]'. Bad trainings are ended early. The settings are
    compared on valid; test has no part in it. While it trains, it says how far it is, and how many
    trainings the time is enough for. Stopped or killed, the same command goes on. The best settings
    go to OUT/best.toml, for `assent train --settings`; OUT/trials.tsv has all trainings, those
    under way too, and OUT/search.svg a picture of those that ended.
    """
    from assent.reporting.grid import counted
    from assent.reporting.trainings import trainings
    from assent.training.journal import UNDER_WAY
    from assent.verbs.search import BEST, CHART, TABLE
    from assent.verbs.search import search as run_search

    with trainings(notes) as watcher:
        found = run_search(
            benchmark,
            model,
            out=folder,
            minutes=minutes,
            trials=trials,
            workers=workers,
            changes=changes or (),
            seed=seed,
            watcher=watcher,
        )
    show(_best(found))
    open_ones = sum(trial.state == UNDER_WAY for trial in found.trials)
    still = f", {open_ones} of them under way still" if open_ones else ""
    said = f"{counted(len(found.trials), 'training')}{still}"
    say(f"{said}; all that is known: {folder / TABLE}, {folder / CHART}")
    tell("best settings", folder / BEST)
    say(f"assent train {benchmark} --model {model} --settings {folder / BEST} --out RUN")


def _best(found: "Found") -> "Grid":
    """The best trainings, each with its score on valid and the settings that were searched."""
    from assent.reporting.grid import (
        DASH,
        Grid,
        count,
        decimal,
        measure_name,
        numbers,
        setting_name,
        setting_value,
        texts,
        words,
    )

    names = list(found.trials[0].settings)
    columns = [
        *numbers("training", measure_name(found.settings.train.stop_on), "epochs"),
        *texts("state", *map(setting_name, names)),
    ]
    rows = [
        [
            count(trial.number),
            decimal(trial.score, 4),
            count(trial.epochs),
            *(
                words(text)
                for text in (
                    trial.state,
                    *(setting_value(trial.settings.get(name, DASH)) for name in names),
                )
            ),
        ]
        for trial in found.trials[:SHOWN]
    ]
    return Grid("trainings", columns, rows)
