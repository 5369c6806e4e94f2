"""tune: how to decide, found on valid."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.arguments import (
    AtBenchmark,
    MLflowAddress,
    OnBenchmark,
    RunFolder,
    Tensorboard,
    Unfinished,
)
from assent.cli.common import command, notes, say, show, tell
from assent.cli.helping import one_of
from assent.cli.together import Workers, is_first, together
from assent.errors import ConfigError


@command()
def tune(
    context: typer.Context,
    run_folder: RunFolder,
    rule: Annotated[
        str,
        typer.Option(
            autocompletion=one_of("rules"),
            help="How to decide, one of {rules_in_words}.",
        ),
    ] = "per-relation",
    objective: Annotated[
        str,
        typer.Option(
            help="What the thresholds shall be best for: f1; f0.5, which values precision more "
            "than recall; precision=0.9, the most recall at this precision; or recall=0.5, the "
            "most precision at this recall."
        ),
    ] = "f1",
    precision: Annotated[
        float | None,
        typer.Option(
            help="For the rules precision and judge: the precision to promise; 0.9 if not given "
            "(the judge promises none then)."
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="How sure that promise shall be: the probability with which it is kept; 0.95 if "
            "not given."
        ),
    ] = None,
    others: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            metavar="RUN",
            help="For the rule judge: also use the scores of this other run on the same benchmark; "
            "may be given again.",
        ),
    ] = None,
    reviewed: Annotated[
        bool,
        typer.Option(
            "--reviewed",
            help="For the rule judge: also learn from what people decided in `assent review`.",
        ),
    ] = False,
    out_file: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Write to this file, and leave decider.json in the run's folder as it is."
        ),
    ] = None,
    on: OnBenchmark = None,
    benchmark: AtBenchmark = None,
    unfinished: Unfinished = False,
    tensorboard: Tensorboard = False,
    mlflow: MLflowAddress = None,
    workers: Workers = 1,
) -> None:
    """Find the thresholds above which candidates are accepted.

    They are found on the queries of valid, and `assent evaluate` measures them on test, the other
    part. What was found is written to decider.json in the run's folder.
    """
    from assent.deciding.trees import KINDS
    from assent.files.arrays import has_arrays
    from assent.files.atomic import refuse_to_write
    from assent.files.deciders import JUDGE, is_decider, is_own
    from assent.reporting.deciders import found_lines, promise_grid, thresholds_grid
    from assent.reporting.progress import queries
    from assent.reporting.tracking import refuse_untrackable, track
    from assent.verbs.deciders import save_decider
    from assent.verbs.runs import load_run
    from assent.verbs.tune import tune as find_decider

    if on is not None and out_file is None:
        raise ConfigError("--on: name a file with --out, so that the run keeps its own decider")
    if out_file is not None:
        refuse_to_write(out_file, own=is_own(out_file), is_alike=is_decider)
        if rule == JUDGE:  # its trees come beside it
            trees = out_file.with_suffix(".npz")
            refuse_to_write(
                trees,
                own=is_own(out_file),
                # A command that is killed between the two files leaves the trees alone.
                is_alike=lambda path: out_file.exists() or has_arrays(path, KINDS),
            )
    refuse_untrackable(tensorboard, mlflow)
    if len({folder.resolve() for folder in others or ()}) < len(others or ()):
        raise ConfigError("--with: names one run twice; a judge hears each once")
    with together(context, workers):
        run = load_run(run_folder, on, benchmark=benchmark, unfinished=unfinished)
        heard = {
            str(folder.resolve()): load_run(folder, on, benchmark=benchmark)
            for folder in others or ()
        }
        with queries(notes) as progress:
            decider = find_decider(
                run, rule, objective, progress, heard, precision, confidence, reviewed
            )
        if not is_first():  # of several processes, one writes and tells
            return
        path = save_decider(decider, out_file or run_folder, run.benchmark)
        show(thresholds_grid(decider, run.benchmark))
        if "promise" in decider.found:
            show(promise_grid(decider.found["promise"]))
        for line in found_lines(decider):
            say(line)
        tell("decider", path)
        track(run_folder, [path], tensorboard=tensorboard, mlflow=mlflow)
