"""train: a model learns the facts of a benchmark."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.common import BenchmarkFolder, command, err, say


@command()
def train(
    benchmark: BenchmarkFolder,
    model: Annotated[
        str,
        typer.Option(
            help="One of {models}; or a class in a file of your own, as in my_model.py:MyModel."
        ),
    ],
    run_folder: Annotated[Path, typer.Option("--out", help="The folder of the run.")],
    preset: Annotated[
        str,
        typer.Option(
            help="Settings to start from, one of {presets}: default is good and quick on a CPU, "
            "paper has those of the paper."
        ),
    ] = "default",
    settings_file: Annotated[
        Path | None, typer.Option("--settings", help="A TOML file with [model] and [train].")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="One setting, as in train.epochs=10; may be given again."),
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda.")] = None,
    threads: Annotated[
        int | None, typer.Option(help="How many; 0: as suits the size of a step.")
    ] = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write RUN/tensorboard, for TensorBoard.")
    ] = False,
    mlflow: Annotated[
        str | None, typer.Option(metavar="URI", help="Also tell MLflow, as in sqlite:///runs.db.")
    ] = None,
) -> None:
    """Train a model; again, to go on where it was stopped.

    It learns the train facts of the benchmark. The best of its epochs is kept, by a score on the
    queries of valid: the part of the benchmark that is there to choose and to tune on.
    """
    from assent.reporting.progress import Together, advice, watching
    from assent.reporting.tracking import tracking
    from assent.verbs.train import popularity
    from assent.verbs.train import train as run_training

    changes = list(changes or ())
    changes += [f"train.device={device}"] if device else []
    changes += [f"train.threads={threads}"] if threads is not None else []
    with tracking(run_folder, tensorboard, mlflow) as trackers, watching(err) as watcher:
        run = run_training(
            benchmark,
            model,
            out=run_folder,
            preset=preset,
            file=settings_file,
            changes=changes,
            watcher=Together(watcher, trackers),
        )
    best = max(run.trained.scores, default=float("nan"))
    stop_on = run.settings.train.stop_on
    baseline = popularity(run.benchmark, stop_on)
    say(
        f"{model}: {stop_on} on valid {best:.4f} "
        f"after epoch {run.trained.best_epoch} of {run.trained.epochs}"
        + ("" if baseline is None else f"; popularity alone: {baseline:.4f}")
    )
    if line := advice(run.trained, baseline):
        say(line)
    say(f"run: {run_folder}")
