"""Commands about runs: train, tune, evaluate, report."""

import json
from pathlib import Path
from typing import Annotated

import typer

from assent.cli.common import (
    AsJson,
    BenchmarkFolder,
    OnBenchmark,
    RunFolder,
    app,
    err,
    out,
    place,
    say,
)
from assent.errors import ConfigError, DataError


@app.command()
def train(
    benchmark: BenchmarkFolder,
    model: Annotated[str, typer.Option(help="complex, conve, distmult, region, rescal, transe.")],
    run_folder: Annotated[Path, typer.Option("--out", help="The run's folder.")],
    preset: Annotated[
        str, typer.Option(help="`default`: good and quick on a CPU. `paper`: as in the paper.")
    ] = "default",
    settings_file: Annotated[
        Path | None, typer.Option("--settings", help="A TOML file with [model] and [train].")
    ] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="section.key=value, as in train.epochs=10.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda.")] = None,
    threads: Annotated[int | None, typer.Option(help="0: by the size of a step.")] = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also for TensorBoard, in RUN/tensorboard.")
    ] = False,
    mlflow: Annotated[
        str | None, typer.Option(metavar="URI", help="Also to MLflow, as in sqlite:///runs.db.")
    ] = None,
) -> None:
    """Train a model; the same command again goes on where it was stopped."""
    from assent.assessing import popularity
    from assent.experiment import train as run_training
    from assent.reporting.tracking import tracking
    from assent.reporting.watching import Together, watching
    from assent.settings import resolve

    changes = list(changes or ())
    changes += [f"train.device={device}"] if device else []
    changes += [f"train.threads={threads}"] if threads is not None else []
    epochs = resolve(model, preset, settings_file, changes).train.epochs
    with tracking(run_folder, tensorboard, mlflow) as trackers, watching(err, epochs) as watcher:
        run = run_training(
            place(benchmark),
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
    say(f"run: {run_folder}")


@app.command()
def tune(
    run_folder: RunFolder,
    rule: Annotated[
        str,
        typer.Option(help="global, per-relation, precision, paper-global, paper-relation, judge."),
    ] = "per-relation",
    objective: Annotated[
        str, typer.Option(help="f1, another balance as in f0.5, precision=0.9, recall=0.5.")
    ] = "f1",
    precision: Annotated[
        float | None,
        typer.Option(help="What rule precision promises (0.9 if not given), or a judge."),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(help="How surely it promises that; 0.95 if not given.")
    ] = None,
    others: Annotated[
        list[Path] | None,
        typer.Option("--with", metavar="RUN", help="Another run that a judge hears; repeatable."),
    ] = None,
    out_file: Annotated[
        Path | None, typer.Option("--out", help="Instead of decider.json in the run's folder.")
    ] = None,
    on: OnBenchmark = None,
) -> None:
    """Find thresholds on valid: above which score may a candidate be added?"""
    from assent import assessing
    from assent.experiment import load_run
    from assent.reporting.progress import queries
    from assent.reporting.results import found_line, promise_table, thresholds_table

    if on is not None and out_file is None:
        raise ConfigError("--on: name a file with --out, so that the run keeps its own decider")
    run = load_run(run_folder, on)
    heard = {str(folder.resolve()): load_run(folder, on) for folder in others or ()}
    with queries(err) as progress:
        decider = assessing.tune(run, rule, objective, progress, heard, precision, confidence)
    path = assessing.save_decider(decider, out_file or run_folder, run.benchmark)
    out.print(thresholds_table(decider, run.benchmark))
    if "promise" in decider.found:
        out.print(promise_table(decider.found["promise"]))
    if (line := found_line(decider)) is not None:
        say(line)
    say(f"decider: {path}")


@app.command()
def evaluate(
    run_folder: RunFolder,
    split: Annotated[str, typer.Option(help="test or valid.")] = "test",
    decider_file: Annotated[
        Path | None, typer.Option("--decider", help="Instead of decider.json in the run's folder.")
    ] = None,
    decisions: Annotated[
        Path | None, typer.Option(help="Write every accepted candidate, a line each.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="relation: a line for each, too.")] = None,
    against: Annotated[
        Path | None,
        typer.Option(help="Another run, or another decider's file."),
    ] = None,
    on: OnBenchmark = None,
    as_json: AsJson = False,
) -> None:
    """Decide on test with the thresholds found on valid, and measure it."""
    from assent import assessing
    from assent.experiment import load_run, others_heard
    from assent.files.atomic import beside
    from assent.files.decisions import write_decisions
    from assent.measuring.classification import compared
    from assent.reporting import results
    from assent.reporting.progress import queries

    if by not in (None, "relation"):
        raise ConfigError(f"--by {by!r}; choose relation")
    if on is not None and decider_file is None:
        raise ConfigError("--on: name with --decider what `assent tune --on` found there")
    run = load_run(run_folder, on)
    decider = assessing.load_decider(decider_file or run_folder, run.benchmark)
    with queries(err) as progress:
        found = assessing.evaluate(run, decider, split, progress, others_heard(decider, on))
        differences = {}
        if against is not None:
            other = run if against.is_file() else load_run(against, on)
            if other.benchmark.digest() != run.benchmark.digest():
                raise DataError(f"{against}: a run on another benchmark")
            rival = assessing.load_decider(against, run.benchmark)
            rival_found = assessing.evaluate(other, rival, split, progress, others_heard(rival, on))
            pair = (rival_found.classified, found.classified)
            differences = {name: compared(*pair, name) for name in ("full", "C", "C+F", "I")}
    text = json.dumps(found.to_json(), indent=1)
    if split == "test" and decider_file is None:
        with beside(run_folder / "metrics.json") as part:
            part.write_text(text + "\n", encoding="utf-8")
    if decisions is not None:
        write_decisions(decisions, found.shortlist, found.accepted, run.benchmark.vocabulary)
    if as_json:
        print(text)
        return
    out.print(results.classification_table(found))
    out.print(results.ranking_table(found))
    for line in results.other_lines(found):
        say(line)
    if by == "relation":
        out.print(results.relations_table(found, decider))
    for line in results.difference_lines(differences):
        say(f"{line} beside {against}")
    if decisions is not None:
        say(f"decisions: {decisions}")


@app.command()
def report(
    run_folders: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of `assent train`, tuned.")
    ],
    out_file: Annotated[
        Path, typer.Option("--out", help="The HTML file; it needs no other.")
    ] = Path("report.html"),
    facts: Annotated[
        Path | None, typer.Option(help="New facts to show: a .jsonl file of `assent complete`.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="A folder for the figures as SVG, too.")
    ] = None,
) -> None:
    """One HTML page about a run, or several side by side: decisions, curves, relations, samples."""
    from assent.presenting import report as write_report
    from assent.reporting.progress import steps

    with steps(err) as progress:
        path = write_report(
            list(run_folders), out_file, facts=facts, figures=figures, progress=progress
        )
    say(f"report: {path} ({path.stat().st_size / 1e6:.1f} MB)")
    if figures is not None:
        say(f"figures: {figures}")
