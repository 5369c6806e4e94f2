"""train: a model learns the facts of a benchmark."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.arguments import BenchmarkFolder
from assent.cli.common import command, notes, say, tell
from assent.cli.helping import one_of
from assent.cli.together import Workers, is_first, words_of


@command()
def train(
    context: typer.Context,
    benchmark: BenchmarkFolder,
    model: Annotated[
        str,
        typer.Option(
            autocompletion=one_of("models"),
            help="One of {models}; or a class in a file of your own, as in my_model.py:MyModel.",
        ),
    ],
    run_folder: Annotated[
        Path, typer.Option("--out", help="The folder for the run, which all other commands take.")
    ],
    preset: Annotated[
        str,
        typer.Option(
            autocompletion=one_of("presets"),
            help="Settings to start from, one of {presets}: default is good and quick on a CPU, "
            "paper has those of the paper.",
        ),
    ] = "default",
    settings_file: Annotated[
        Path | None,
        typer.Option(
            "--settings",
            help="A TOML file with settings in [model] and [train], such as `assent "
            "search` writes.",
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change one setting, as in train.epochs=10; may be given again. A name that is "
            "none is answered by a list of those that the model has.",
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Where to compute, cpu or cuda; cpu if not given.")
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(help="How many processor threads to use; 0: chosen by how large a step is."),
    ] = None,
    workers: Workers = 1,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart", help="Train from the beginning; what was trained in RUN before is lost."
        ),
    ] = False,
    tensorboard: Annotated[
        bool,
        typer.Option(
            "--tensorboard", help="Also write curves for TensorBoard, to RUN/tensorboard."
        ),
    ] = False,
    mlflow: Annotated[
        str | None,
        typer.Option(
            metavar="URI", help="Also send curves and settings to MLflow, as in sqlite:///runs.db."
        ),
    ] = None,
) -> None:
    """Train a model on a benchmark.

    It learns the train facts. What is kept is the epoch that did best on the queries of valid, the
    part of the benchmark that is there to choose by. After Ctrl-C or a crash, the same command goes
    on where it was stopped.
    """
    from assent.reporting.advice import advice
    from assent.reporting.grid import counted
    from assent.reporting.progress import Together, watching
    from assent.reporting.tracking import tracking
    from assent.settings import COUNTED
    from assent.training.launching import more_processes
    from assent.verbs.stopping import popularity
    from assent.verbs.train import train as run_training

    changes = list(changes or ())
    changes += [f"train.device={device}"] if device else []
    changes += [f"train.threads={threads}"] if threads is not None else []
    if not is_first():  # of several processes, one shows what happens
        notes.quiet, tensorboard, mlflow = True, False, None
    with (
        more_processes(workers, words_of(context)),
        tracking(run_folder, tensorboard, mlflow) as trackers,
        watching(notes) as watcher,
    ):
        run = run_training(
            benchmark,
            model,
            out=run_folder,
            preset=preset,
            file=settings_file,
            changes=changes,
            watcher=Together(watcher, trackers),
            restart=restart,
        )
    if not is_first():
        return
    if run.trained.scores:
        stop_on = run.settings.train.stop_on
        baseline = popularity(run.benchmark, stop_on, run.settings.train)
        facts = len(run.benchmark.train)
        say(
            f"{model}: {stop_on} on valid {max(run.trained.scores):.4f} "
            f"after epoch {run.trained.best_epoch} of {run.trained.epochs}"
            + ("" if baseline is None else f"; popularity alone: {baseline:.4f}")
        )
        planned = 0 if model in COUNTED else run.settings.train.epochs
        if line := advice(run.trained, baseline, facts, planned):
            say(line)
    else:
        say(
            f"{model}: {counted(run.trained.epochs, 'epoch')}; how good it is was not measured on "
            "valid, for train.evaluate_every = 0"
        )
    tell("run", run_folder)
