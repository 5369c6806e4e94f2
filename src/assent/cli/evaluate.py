"""evaluate: decisions on test, measured."""

import json
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
from assent.cli.common import as_json, command, notes, say, show, tell
from assent.cli.together import Workers, is_first, together
from assent.errors import ConfigError, DataError


@command()
def evaluate(
    context: typer.Context,
    run_folder: RunFolder,
    split: Annotated[
        str,
        typer.Option(
            help="Which queries to ask: test, to measure on; valid, to tune on; or removed, about "
            "the entities that `assent build` removed, by a run of the model text."
        ),
    ] = "test",
    decider_file: Annotated[
        Path | None,
        typer.Option(
            "--decider",
            help="Decide with this file of `assent tune --out`, not with the run's decider.json.",
        ),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(help="Also write the accepted candidates to this file, a line each."),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Give `relation` to see a line for each relation, too.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            help="Also say how much higher F1 is than that of another run, or of the same run with "
            "another file of `assent tune --out`."
        ),
    ] = None,
    on: OnBenchmark = None,
    benchmark: AtBenchmark = None,
    unfinished: Unfinished = False,
    tensorboard: Tensorboard = False,
    mlflow: MLflowAddress = None,
    workers: Workers = 1,
) -> None:
    """Measure how good the decisions are, on test queries.

    What `assent tune` found decides which candidates are accepted; the table shows how many of them
    are right, and how many answers are found, by kind of query. Nothing was tuned on test.
    """
    from assent.core.benchmark import SPLITS
    from assent.files.atomic import refuse_to_write
    from assent.files.decisions import is_decisions, write_decisions
    from assent.files.recording import recorded
    from assent.files.runs import METRICS
    from assent.measuring.classification import compared
    from assent.reporting.decisions import (
        SUREST,
        DecidedRun,
        decisions_grid,
        difference_line,
        new_entities_line,
        relations_grid,
    )  # fmt: skip
    from assent.reporting.measures import further_grid, other_lines, ranking_grid
    from assent.reporting.progress import queries
    from assent.reporting.tracking import metrics_of, refuse_untrackable, track
    from assent.verbs.deciders import load_decider
    from assent.verbs.evaluate import evaluate as measure
    from assent.verbs.runs import load_run

    if by not in (None, "relation"):
        raise ConfigError(f"--by {by!r}; choose relation")
    if on is not None and decider_file is None:
        raise ConfigError("--on: name with --decider what `assent tune --on` found there")
    refuse_untrackable(tensorboard, mlflow)
    if decisions is not None:
        refuse_to_write(decisions, is_alike=is_decisions)
    with together(context, workers):
        run = load_run(run_folder, on, benchmark=benchmark, unfinished=unfinished)
        decider = load_decider(decider_file or run_folder, run, on)
        with queries(notes) as progress:
            found = measure(run, decider, split, progress)
            differences = {}
            if against is not None:
                other = run if against.is_file() else load_run(against, on, benchmark=benchmark)
                if other.benchmark.digest() != run.benchmark.digest():
                    raise DataError(f"{against}: a run on another benchmark")
                rival = load_decider(against, other, on)
                rival_found = measure(other, rival, split, progress)
                mine, theirs = found.classified, rival_found.classified
                told = [name for name in mine.sets if mine.of(name).relevant]
                differences = {name: compared(theirs, mine, name) for name in told}
        if not is_first():  # of several processes, one writes and tells
            return
        files = [run_folder / METRICS] if split == "test" and decider_file is None else []
        for path in files:
            with recorded(path) as part:
                part.write_text(json.dumps(found.to_json(), indent=1) + "\n", encoding="utf-8")
        if decisions is not None:
            write_decisions(decisions, found.shortlist, found.accepted, found.vocabulary)
        if not as_json(found.to_json):
            show(decisions_grid({"": found}))
            show(ranking_grid({"": found}))
            for line in other_lines(found):
                say(line)
            show(further_grid({"": found}))
            if split not in SPLITS:
                say(new_entities_line(found, run.benchmark.vocabulary.num_entities))
        if by == "relation":
            show(relations_grid([DecidedRun("", decider, found)]).without(SUREST))
        for name, difference in differences.items():
            say(f"{difference_line(name, difference)} beside {against}")
        if decisions is not None:
            tell("decisions", decisions)
        track(run_folder, files, metrics_of(found), tensorboard=tensorboard, mlflow=mlflow)
