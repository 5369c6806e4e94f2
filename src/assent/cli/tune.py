"""tune: how to decide, found on valid."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.common import (
    OnBenchmark,
    RunFolder,
    Unfinished,
    command,
    notes,
    one_of,
    say,
    show,
    tell,
)
from assent.errors import ConfigError


@command()
def tune(
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
            help="What thresholds are to be best for: f1, another balance as in f0.5, or the most "
            "recall with precision=0.9, the most precision with recall=0.5."
        ),
    ] = "f1",
    precision: Annotated[
        float | None,
        typer.Option(
            help="Rules precision (0.9 if not given) and judge: the precision to promise."
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(help="The probability with which that is kept; 0.95 if not given."),
    ] = None,
    others: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            metavar="RUN",
            help="Rule judge: another run whose scores count too; may be given again.",
        ),
    ] = None,
    reviewed: Annotated[
        bool,
        typer.Option(
            "--reviewed", help="Rule judge: learn from the labels of `assent review` too."
        ),
    ] = False,
    out_file: Annotated[
        Path | None,
        typer.Option("--out", help="A file, instead of decider.json in the run's folder."),
    ] = None,
    on: OnBenchmark = None,
    unfinished: Unfinished = False,
) -> None:
    """Find how to decide: above which score is a candidate accepted?

    It is found on the queries of valid, the part of the benchmark that is there to tune on.
    `assent evaluate` measures it on test, the other part.
    """
    from assent.reporting.deciders import found_line, promise_grid, thresholds_grid
    from assent.reporting.progress import queries
    from assent.verbs.deciders import save_decider
    from assent.verbs.runs import load_run
    from assent.verbs.tune import tune as find_decider

    if on is not None and out_file is None:
        raise ConfigError("--on: name a file with --out, so that the run keeps its own decider")
    run = load_run(run_folder, on, unfinished=unfinished)
    heard = {str(folder.resolve()): load_run(folder, on) for folder in others or ()}
    with queries(notes) as progress:
        decider = find_decider(
            run, rule, objective, progress, heard, precision, confidence, reviewed
        )
    path = save_decider(decider, out_file or run_folder, run.benchmark)
    show(thresholds_grid(decider, run.benchmark))
    if "promise" in decider.found:
        show(promise_grid(decider.found["promise"]))
    if (line := found_line(decider)) is not None:
        say(line)
    tell("decider", path)
