"""Deciders of runs: saved, loaded, and a judge bound to what its features come from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assent.core.benchmark import Benchmark
from assent.core.decider import Decider
from assent.core.shortlist import Shortlist
from assent.deciding.features import Features, Known, RuleColumns, features
from assent.deciding.graph import Graph
from assent.deciding.judge import Judge
from assent.deciding.tuning import Source
from assent.errors import ConfigError, DataError
from assent.files.deciders import decider_file, read_decider, write_decider
from assent.files.text import read_json
from assent.rules.columns import columns
from assent.rules.firing import Firing
from assent.rules.likeness import Likeness
from assent.rules.mining import RuleSet
from assent.rules.model import rules_of as heard_rules
from assent.scoring import PairScorer, Scored, score_pairs
from assent.verbs.runs import load_run

MODEL = "model"  # where a decider keeps the checksum of the model that it was found for
NOBODY: Mapping[str, Any] = MappingProxyType({})


def save_decider(decider: Decider, path: str | Path, benchmark: Benchmark) -> Path:
    """Puts a decider into a run folder, or into a file of its own; returns the file."""
    file = decider_file(Path(path))
    if file.suffix == ".npz":
        raise ConfigError(f"{file}: trees have this suffix; choose another, as in decider.json")
    write_decider(file, decider, benchmark.vocabulary)
    return file


def load_decider(
    path: str | Path,
    run: Scored,
    on: str | Path | None = None,
    others: Mapping[str, Scored] = NOBODY,
) -> Decider:
    """The decider that `assent tune` found for a run, from its folder or from a file of its own.

    The other runs that a judge hears are loaded from their folders, with the benchmark `on` which
    they are measured, unless they are given here by folder.
    """

    def bind(sources: tuple[Source, ...]) -> Callable[[Shortlist], Features]:
        folders = (source.path for source in sources[1:])
        mine = getattr(run, "folder", None)
        runs = [
            run,
            *(others.get(path) or load_run(heard_folder(path, mine), on) for path in folders),
        ]
        if [model.digest() for model in heard(runs)] != [source.sha256 for source in sources]:
            raise DataError("not the models that the judge was trained with; tune again")
        return features_from(runs)

    restore = partial(Judge.restored, bind=bind)
    file = decider_file(Path(path))
    decider = read_decider(file, run.benchmark.vocabulary, restore)
    if decider.found.get(MODEL, model_of(run)) != model_of(run):
        raise DataError(f"{file}: found for another model, whose scores differ; tune this run")
    return decider


def heard_folder(path: str, run: Path | None) -> Path:
    """The folder of another run that a judge hears: where it was, or with the judge's own run."""
    stated = Path(path)
    if stated.exists() or run is None:
        return stated
    near = (run / "heard" / stated.name, run.resolve().parent / stated.name)
    return next((folder for folder in near if folder.exists()), stated)


def rule_of(folder: str | Path) -> str:
    """By which rule the decider of a run's folder was found; empty where there is none."""
    file = decider_file(Path(folder))
    document = read_json(file) if file.exists() else {}
    return str(document.get("rule", "")) if isinstance(document, dict) else ""


def for_model(decider: Decider, run: Scored) -> Decider:
    """A decider that says which model's scores it was found for."""
    return replace(decider, found={**decider.found, MODEL: model_of(run)})


def model_of(run: Scored) -> str:
    """The checksum of a run's model; empty for a model from elsewhere, which has none."""
    return run.model.digest() if isinstance(run.model, PairScorer) else ""


def features_from(runs: Sequence[Scored]) -> Callable[[Shortlist], Features]:
    """What a judge may know of the candidates that the first of these runs shortlists."""

    @cache
    def graph() -> Graph:
        return Graph(runs[0].benchmark)

    @cache
    def rules() -> RuleColumns:
        return rule_columns(rules_of(runs[0].benchmark))

    def of(shortlist: Shortlist) -> Features:
        models = [partial(score_pairs, model) for model in heard(runs)]
        return features(Known(shortlist, graph(), models, rules()))

    return of


def rule_columns(rules: RuleSet) -> RuleColumns:
    """What these rules and the graph they are of say to candidates.

    No fact between anchor and entity speaks: where pairs were held out, no answer has one.
    """
    return partial(columns, Firing.of(rules, direct=False), Likeness.of(rules.graph))


def rules_of(benchmark: Benchmark) -> RuleSet:
    """The rules that a judge hears: those of the train facts."""
    names = benchmark.vocabulary
    return heard_rules(benchmark.train, names.num_entities, names.num_relations)


def heard(runs: Sequence[Scored]) -> list[PairScorer]:
    """The models of all these runs, which must be of one benchmark."""
    for run in runs:
        if not isinstance(run.model, PairScorer):
            raise ConfigError("a judge needs models that assent trained: it asks for single facts")
        if run.benchmark.digest() != runs[0].benchmark.digest():
            raise ConfigError("a judge takes runs of one benchmark, not of several benchmarks")
    return [run.model for run in runs if isinstance(run.model, PairScorer)]
