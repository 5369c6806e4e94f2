"""Deciders of runs: saved, loaded, and a judge bound to what its features come from."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
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
from assent.errors import AssentError, ConfigError, DataError
from assent.files.deciders import decider_file, read_decider, write_decider
from assent.files.places import SETTINGS
from assent.files.runs import read_place
from assent.files.text import can_be_path, read_json
from assent.rules.columns import columns
from assent.rules.firing import Firing
from assent.rules.likeness import Likeness
from assent.rules.mining import RuleSet
from assent.rules.model import rules_of as heard_rules
from assent.scoring import PairScorer, Scored, score_pairs
from assent.verbs.runs import MOST_BESIDE, Run, folder_of, load_run

MODEL = "model"  # where a decider keeps the checksum of the model that it was found for
HEARD = "heard"  # the folder of a pack that holds the other runs that its judge hears
NOBODY: Mapping[str, Any] = MappingProxyType({})


def save_decider(decider: Decider, path: str | Path, benchmark: Benchmark) -> Path:
    """Puts a decider into a run folder, or into a file of its own; returns the file.

    The way to other runs that a judge hears begins at that folder: it stays right when all of them
    are moved.
    """
    file = decider_file(Path(path))
    if file.suffix == ".npz":
        raise ConfigError(f"{file}: trees have this suffix; choose another, as in decider.json")
    here = file.resolve().parent

    def from_here(path: str) -> str:
        is_run = bool(path) and (Path(path) / SETTINGS).is_file()
        return Path(os.path.relpath(Path(path).resolve(), here)).as_posix() if is_run else path

    write_decider(file, hearing(decider, from_here), benchmark.vocabulary)
    return file


def load_decider(
    path: str | Path,
    run: Scored,
    on: str | Path | None = None,
    others: Mapping[str, Scored] = NOBODY,
    *,
    renewing: bool = False,
) -> Decider:
    """The decider that `assent tune` found for a run, from its folder or from a file of its own.

    The other runs that a judge hears are found by their checksums, in their folders or near the
    judge, with the benchmark `on` which they are measured, unless they are given here by folder.
    `renewing` asks only whether it fits the run, not whether it is as assent wrote it.
    """
    file = decider_file(Path(path))
    places: dict[str, str] = {}  # the path that decider.json states -> where the run is

    def found(source: Source) -> Scored:
        for name in (source.path, str((file.parent / source.path).resolve())):
            if name in others:
                return others[name]
        other = find_heard(source, file.resolve().parent, run, on)
        places[source.path] = str(other.folder)
        return other

    def bind(sources: tuple[Source, ...]) -> Callable[[Shortlist], Features]:
        runs = [run, *map(found, sources[1:])]
        if [model.digest() for model in heard(runs)] != [source.sha256 for source in sources]:
            raise DataError("not the models that the judge was trained with; tune again")
        return features_from(runs)

    restore = partial(Judge.restored, bind=bind)
    decider = read_decider(file, run.benchmark.vocabulary, restore, renewing)
    decider = hearing(decider, lambda path: places.get(path, path))
    if decider.found.get(MODEL, model_of(run)) != model_of(run):
        raise DataError(f"{file}: found for another model, whose scores differ; tune this run")
    return decider


def hearing(decider: Decider, place: Callable[[str], str]) -> Decider:
    """The same decider; the folders of the other runs that its judge hears are put by `place`."""
    if not isinstance(judge := decider.rescorer, Judge):
        return decider
    own, *others = judge.sources
    moved = [replace(source, path=place(source.path)) for source in others]
    return replace(decider, rescorer=replace(judge, sources=(own, *moved)))


def find_heard(source: Source, here: Path, run: Scored, on: str | Path | None) -> Run:
    """Another run that a judge in the folder `here` hears: where it was, else known by its model.

    It was trained on the benchmark of the judge's own run.
    """
    if not can_be_path(source.path):
        raise DataError(f"{here}: a judge hears a run in what can be no path; tune again")
    mine = folder_of(run)
    benchmark = run.benchmark if on is None else mine and read_place(mine)
    stated = (here / source.path).resolve()
    for folder in dict.fromkeys(_near(stated, here, mine)):
        if not (folder / SETTINGS).is_file():
            continue
        try:
            other = load_run(folder, on, benchmark=benchmark)
        except AssentError:
            if folder == stated:
                raise  # where it should be; what is wrong with it is worth knowing
            continue
        if other.model.digest() == source.sha256:
            return other
    if (stated / SETTINGS).is_file():
        raise DataError(f"{stated}: not the model that the judge was trained with; tune again")
    raise DataError(
        f"{source.path}: found nowhere this run, which the judge hears; put its folder beside "
        f"{here}, or tune again"
    )


def _near(stated: Path, here: Path, run: Path | None) -> Iterator[Path]:
    """Where a heard run may be: where it was, by its name near the judge, then whatever is there.

    What is not beside the judge's file may be beside its run.
    """
    yield stated
    around = [here / HEARD, here.parent, *([] if run is None else [run.resolve().parent])]
    yield from (folder / stated.name for folder in around)
    for folder in around:
        with suppress(OSError):
            inner = sorted(path for path in folder.iterdir() if (path / SETTINGS).is_file())
            yield from inner[:MOST_BESIDE]


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
