"""The whole path of a fact, from file to decision: the only place that knows the order."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import torch

from assent.assessing import (
    EVALUATIONS,
    QueriesDone,
    Scored,
    evaluate,
    load_decider,
    save_decider,
    tune,
    unheard,
)
from assent.building.auditing import Finding, audit
from assent.building.recipe import Progress, build, silent
from assent.completing.completion import Completion, collected
from assent.completing.lines import Lines
from assent.completing.running import Completing, Stopping, Wanted
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.queries import Queries, both_ways
from assent.datasets import fetch, located
from assent.deciding.curves import Curves
from assent.deciding.rules import Decider
from assent.deciding.shortlisting import Highest
from assent.errors import ConfigError, DataError
from assent.files.benchmarks import load, save
from assent.files.proposals import read_proposals
from assent.files.runs import SETTINGS, read_weights, save_weights, start_run
from assent.files.saving import beside
from assent.files.triples import read
from assent.judging.judge import Judge
from assent.measuring.evaluation import Evaluation
from assent.measuring.separation import Separation
from assent.models import Model, create
from assent.reporting.asked import asked
from assent.reporting.page import markdown
from assent.reporting.proposed import proposed
from assent.reporting.said import rows_to_ask
from assent.reporting.subject import Subject, lines_in
from assent.reporting.watching import Unwatched
from assent.settings import Settings, of_sections, read_toml, resolve, to_toml
from assent.training.loop import Watcher
from assent.training.loop import train as train_model
from assent.training.trace import Trained, read_events, read_trained

CURVE_POINTS = 160  # of a precision-recall curve


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A trained model, what it was trained on, and how."""

    benchmark: Benchmark
    settings: Settings
    model: Model
    trained: Trained
    folder: Path | None = None

    def on(self, benchmark: Benchmark) -> Self:
        """The same run, to be measured on other queries about the facts that it learned from."""
        mine = self.benchmark
        same_names = (mine.vocabulary.entities, mine.vocabulary.relations) == (
            benchmark.vocabulary.entities,
            benchmark.vocabulary.relations,
        )
        if not same_names or not np.array_equal(mine.train, benchmark.train):
            raise DataError("a benchmark of other train facts than the run learned from")
        return replace(self, benchmark=benchmark)


def dataset(name: str) -> KnowledgeBase:
    """A named graph: built in, or fetched if it is not here yet."""
    return read(located(name) or fetch(name))


def train(
    benchmark: Benchmark | str | Path,
    model: str = "complex",
    *,
    out: str | Path | None = None,
    preset: str = "default",
    file: Path | None = None,
    changes: Iterable[str] = (),
    watcher: Watcher | None = None,
    minutes: float = math.inf,
) -> Run:
    """Trains a model on a benchmark; with `out`, in a folder, resumed where it was stopped.

    Settings come from the preset, then from a TOML `file`, then from `changes` such as
    "train.epochs=10". `minutes` is the most that its steps may take; a folder that had fewer
    goes on with more.
    """
    where = None if isinstance(benchmark, Benchmark) else str(Path(benchmark).resolve())
    benchmark = benchmark if isinstance(benchmark, Benchmark) else load(benchmark)
    settings = resolve(model, preset, file, changes)
    folder = Path(out) if out is not None else None
    if folder is not None:
        origin = {"path": where or "", "sha256": benchmark.digest()}
        text = to_toml({**settings.sections(), "benchmark": origin})
        start_run(folder, text, benchmark.vocabulary)
    torch.manual_seed(settings.train.seed)
    network = create(
        model, benchmark.vocabulary.num_entities, benchmark.vocabulary.num_relations, settings.model
    )
    facts = both_ways(benchmark.train, benchmark.vocabulary.num_relations)
    trained = train_model(
        network,
        Queries.grouped(*facts),
        settings.train,
        EVALUATIONS[settings.train.stop_on](benchmark),
        watcher or Unwatched(),
        folder,
        minutes,
    )
    if folder is not None:
        save_weights(folder, network.state_dict())
    return Run(benchmark, settings, network, trained, folder)


def load_run(folder: str | Path, on: str | Path | None = None) -> Run:
    """A trained run, with the benchmark that it was trained on.

    Or with another `on` which it is to be measured, if that has the same train facts.
    """
    folder = Path(folder)
    sections = read_toml(folder / SETTINGS)
    origin = sections.pop("benchmark", {})
    settings = of_sections(sections)
    benchmark = load(origin.get("path", ""))
    if benchmark.digest() != origin.get("sha256"):
        raise DataError(f"{origin.get('path')}: not the benchmark that {folder} was trained on")
    names = benchmark.vocabulary
    model = create(settings.name, names.num_entities, names.num_relations, settings.model)
    model.load_state_dict(read_weights(folder))
    run = Run(benchmark, settings, model.eval(), read_trained(folder / "trace.jsonl"), folder)
    return run if on is None else run.on(load(on))


def complete(
    run: Scored,
    precision: float | None = None,
    *,
    confidence: float = 0.95,
    review_above: float | None = None,
    relations: Sequence[str] | None = None,
    anchors: Sequence[str] | None = None,
    max_facts: int | None = None,
    functional: bool = True,
    symmetric: bool = True,
    progress: QueriesDone = unheard,
    stopping: Stopping = lambda: False,
) -> Completion:
    """New facts: all that the graph may ask for, decided.

    With `precision`, thresholds are found on valid that promise it with this confidence; else
    those that `assent tune` put into the run's folder decide. With `review_above`, what is not
    accepted but at least as probable comes too, as facts to review.
    """
    decider = _decider_for(run, precision, confidence)
    lines = Lines.of(decider, run.benchmark.vocabulary, review_above)
    wanted = Wanted(relations, anchors, max_facts, functional, symmetric)
    work = Completing(run.benchmark, run.model, lines, wanted)
    return collected(work, run.benchmark.vocabulary, decider.rule, progress, stopping)


def _decider_for(run: Scored, precision: float | None, confidence: float) -> Decider:
    if precision is not None:
        decider = tune(run, "precision", precision=precision, confidence=confidence)
    elif (folder := getattr(run, "folder", None)) is not None:
        decider = load_decider(folder, run.benchmark)
    else:
        raise ConfigError("a run without a folder has no decider; give a precision")
    if not isinstance(decider, Decider):
        raise ConfigError("a judge cannot complete a graph; give a precision, or tune another rule")
    return decider


def others_heard(decider: Decider | Judge, on: str | Path | None = None) -> list[Run]:
    """The runs that a judge was trained with, but for its own."""
    return [load_run(source.path, on) for source in getattr(decider, "sources", ())[1:]]


def report(
    runs: Sequence[Run | str | Path],
    path: str | Path,
    *,
    deciders: Sequence[Decider | Judge] = (),
    facts: str | Path | None = None,
    figures: str | Path | None = None,
    progress: Progress = silent,
) -> Path:
    """One HTML file about a run, or about several side by side.

    Each decides with what `assent tune` left in its folder, unless `deciders` are given, one a
    run. `facts` is a .jsonl file of `assent complete`; `figures` a folder for them as SVG.
    """
    from assent.reporting.document import document
    from assent.reporting.figures import figures as all_figures
    from assent.reporting.figures import write_figures

    loaded = [run if isinstance(run, Run) else load_run(run) for run in runs]
    if not loaded or (deciders and len(deciders) != len(loaded)):
        raise ConfigError(f"{len(loaded)} runs and {len(deciders)} deciders; expected one each")
    subjects = []
    for place, name in enumerate(_names_of(loaded)):
        progress(f"asking {name} the test queries")
        subjects.append(_subject(name, loaded[place], deciders[place] if deciders else None))
    proposals = {}
    if facts is not None:
        progress(f"reading {facts}")
        proposals = proposed(read_proposals(Path(facts)), [run.benchmark for run in loaded])
    progress("drawing")
    drawn = all_figures(subjects)
    if figures is not None:
        write_figures(drawn, Path(figures))
    with beside(Path(path)) as part:
        part.write_text(document(subjects, drawn, proposals), encoding="utf-8")
    return Path(path)


def _subject(name: str, run: Run, given: Decider | Judge | None) -> Subject:
    """All that the report shows of a run, from one pass over test."""
    if given is None and run.folder is None:
        raise ConfigError(f"{name}: not trained into a folder, so say with which decider")
    decider = given or load_decider(run.folder or "", run.benchmark)
    benchmark, lines = run.benchmark, lines_in(decider, run.benchmark)
    differ = len(lines) > 1 and bool(np.isfinite(lines).any())
    separation = Separation(decider.thresholds.values if differ else None)
    highest = Highest(benchmark.test, 2 * benchmark.vocabulary.num_relations)
    found = evaluate(run, decider, others=others_heard(decider), also=(separation, highest))
    return Subject(
        name,
        _dataset(run),
        benchmark,
        run.settings.sections(),
        decider,
        found,
        separation,
        Curves.overall(highest.result()).spread(CURVE_POINTS),
        tuple(asked(run.model, benchmark, rows_to_ask(benchmark))),
        read_events(run.folder / "trace.jsonl") if run.folder else (),
    )


def _dataset(run: Run) -> str:
    """What the benchmark was built from, or else the name of its folder."""
    source = run.benchmark.origin.get("source", {}).get("name")
    if source or run.folder is None:
        return str(source or "a benchmark")
    return Path(read_toml(run.folder / SETTINGS)["benchmark"]["path"]).name


def _names_of(runs: Sequence[Run]) -> list[str]:
    """The names of the folders, with as many of those around them as tell them apart."""
    parts = [run.folder.resolve().parts if run.folder else (run.settings.name,) for run in runs]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-depth:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{part[-1]} ({place})" for place, part in enumerate(parts, 1)]


class Demo(NamedTuple):
    """What the demonstration made."""

    benchmark: Benchmark
    findings: list[Finding]
    found: Evaluation
    report: Path


def demo(out: Path, progress: Progress = silent, watcher: Watcher | None = None) -> Demo:
    """The built-in world graph: a benchmark, audited; a model; decisions, measured; a report."""
    progress("reading the world graph")
    benchmark = build(dataset("world"), progress=progress)
    save(benchmark, out / "benchmark", overwrite=True)
    progress("auditing")
    findings = audit(benchmark)
    progress("training")
    # One thread: steps are small here, and two would wait for each other on a busy machine.
    alone = ["train.threads=1"]
    run = train(out / "benchmark", "complex", out=out / "run", changes=alone, watcher=watcher)
    progress("finding thresholds on valid, deciding on test")
    decider = tune(run, "per-relation")
    save_decider(decider, out / "run", benchmark)
    found = evaluate(run, decider)
    report = out / "report.md"
    with beside(report) as part:
        part.write_text(markdown(benchmark, findings, found), encoding="utf-8")
    return Demo(benchmark, findings, found, report)
