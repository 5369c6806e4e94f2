"""A run: a trained model, what it was trained on, and how. `train` makes it, the others load it."""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from torch import Tensor

from assent.core.benchmark import Benchmark
from assent.core.vocabulary import Vocabulary
from assent.datasets import located
from assent.errors import ConfigError, DataError
from assent.files import benchmarks
from assent.files.atomic import found_again, tidy
from assent.files.benchmarks import is_benchmark
from assent.files.checksums import check, read_checksums
from assent.files.places import CHECKPOINTS, SETTINGS, refuse_no_run
from assent.files.runs import (
    ENTITIES,
    RELATIONS,
    TRACE,
    WEIGHTS,
    check_names,
    keep_place,
    make_run,
    read_place,
    read_weights,
    write_settings,
)
from assent.files.text import can_be_path
from assent.models import Model
from assent.models.making import shared, to_be_loaded
from assent.rules.model import RuleModel
from assent.scoring import Scored
from assent.settings import Settings, Values, new_model, of_sections, read_toml, to_toml
from assent.training.checkpoints import best_so_far, newest_checkpoint
from assent.training.settings import FREE
from assent.training.trace import ADOPTED, Trained, read_events, trained_by
from assent.verbs.read import place
from assent.verbs.sharing import load_portion

MOST_BESIDE = 20  # benchmarks of one folder that are looked at to find that of a run


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A trained model, what it was trained on, and how."""

    benchmark: Benchmark
    settings: Settings
    model: Model | RuleModel
    trained: Trained
    folder: Path | None = None

    def __repr__(self) -> str:
        where = "" if self.folder is None else f" in {self.folder}"
        return f"Run({self.settings.name}{where}, on {self.benchmark!r})"

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


def folder_of(run: Scored) -> Path | None:
    """The folder of a run; None for one without, and for a model from elsewhere."""
    folder = getattr(run, "folder", None)
    return None if folder is None else Path(folder)


def load_benchmark(source: Benchmark | str | Path) -> Benchmark:
    """The benchmark of a folder, or of a data set by its name; a benchmark as it is."""
    return source if isinstance(source, Benchmark) else benchmarks.load(place(source))


def load_run(
    folder: str | Path,
    on: str | Path | None = None,
    *,
    benchmark: Benchmark | str | Path | None = None,
    unfinished: bool = False,
    renewing: bool = False,
) -> Run:
    """A trained run, with the benchmark that it was trained on, all of it checked.

    `benchmark` is that benchmark, or where it is now; without it, the run looks where it was, from
    the run's own place, and beside the run. With `on`, the run is to be measured on another
    benchmark that has the same train facts. With `unfinished`, a run that is still being trained,
    or was stopped, gives its best weights so far. `renewing` asks only whether its files fit one
    another, not whether they are as assent wrote them.
    """
    folder = found_again(Path(folder))
    refuse_no_run(folder)
    tidy(folder)
    sections = read_toml(folder / SETTINGS)
    origin = sections.pop("benchmark", {})
    settings = of_sections(sections, folder / SETTINGS)
    mine = find_benchmark(folder, origin, benchmark)
    check_names(folder, mine.vocabulary)
    if (peers := shared()) is not None:
        if unfinished:
            raise ConfigError("unfinished weights are read by one process; leave out --workers")
        portion = load_portion(folder, settings, mine.vocabulary, peers)
        run = Run(mine, settings, portion, _trained(folder), folder)
        return run if on is None else run.on(load_benchmark(on))
    with to_be_loaded():
        model = new_model(settings, mine.vocabulary)
    if unfinished:
        weights, trained = _so_far(folder)
    else:
        weights, trained = read_weights(folder), _trained(folder, renewing)
    try:
        model.take(weights)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{folder / WEIGHTS}: not the weights of this model ({reason})") from error
    if isinstance(model, Model) and not model.saw(mine.train):
        raise DataError(f"{folder / WEIGHTS}: heard of other facts than those of the benchmark")
    if not renewing:
        check(folder, (SETTINGS, ENTITIES, RELATIONS, *(() if unfinished else (WEIGHTS,))))
    run = Run(mine, settings, model.eval(), trained, folder)
    return run if on is None else run.on(load_benchmark(on))


def find_benchmark(
    folder: Path, origin: Mapping[str, Any], given: Benchmark | str | Path | None = None
) -> Benchmark:
    """The benchmark that a run was trained on, known by its checksum wherever it lies."""
    stated, wanted = str(origin.get("path", "")), origin.get("sha256")
    if not can_be_path(stated):
        raise DataError(f"{folder / SETTINGS}: benchmark.path can be no path; put it back")
    if given is not None:
        found = load_benchmark(given)
        if found.digest() != wanted:
            what = "this is" if isinstance(given, Benchmark) else f"{given}:"
            raise DataError(f"{what} not the benchmark that {folder} was trained on")
        if not isinstance(given, Benchmark):
            keep_place(folder, place(given).resolve())
        return found
    for candidate in _candidates(folder, stated):
        try:
            found = benchmarks.load(candidate)
        except DataError:
            if candidate == folder / stated:
                raise  # where it should be; what is wrong with it is worth knowing
            continue
        if found.digest() == wanted:
            if candidate != folder / stated:
                keep_place(folder, candidate.resolve())
            return found
    there = is_benchmark(folder / stated) and stated
    where = f"{folder / stated}: not" if there else f"{folder}: found nowhere"
    raise DataError(
        f"{where} the benchmark that {folder} was trained on; say where it is: --benchmark DIR"
    )


def _candidates(folder: Path, stated: str) -> Iterator[Path]:
    """The folders that may be the benchmark of a run: where it was, then inside and beside it."""
    places = [folder / stated] if stated else []
    places += [hint] if (hint := read_place(folder)) is not None else []
    yield from (place for place in places if is_benchmark(found_again(place)))
    if stated and (named := located(Path(stated).name)) is not None and is_benchmark(named):
        yield named
    for around in dict.fromkeys((folder, folder.resolve().parent, *(p.parent for p in places))):
        with suppress(OSError):
            inner = sorted(path for path in around.iterdir() if path.is_dir())
            yield from [path for path in inner if is_benchmark(path)][:MOST_BESIDE]


def origin_for(folder: Path | None, where: str, benchmark: Benchmark) -> dict[str, str]:
    """What a run's settings say of its benchmark, which was read from `where`.

    The path begins at the run's folder: it stays right when both are moved.
    """
    if folder is not None and where:
        where = Path(os.path.relpath(where, folder.resolve())).as_posix()
    return {"path": where, "sha256": benchmark.digest()}


def _trained(folder: Path, renewing: bool = False) -> Trained:
    """How a training that has ended went; if its trace was cut since, by its last checkpoint."""
    path = folder / TRACE
    events = read_events(path)
    ended, last = TRACE in read_checksums(folder), events[-1:]
    if not ended or path.read_bytes().endswith(b"\n"):
        trained = trained_by(events, path)
        if not renewing:
            check(folder, (TRACE,))
        return trained
    if last and isinstance(last[0], dict) and last[0].get("event") == "end":
        return trained_by(events, path)
    if (found := newest_checkpoint(folder / CHECKPOINTS)) is None:
        return trained_by(events, path)
    position = found[0]
    scores = tuple(position.scores)
    return Trained(position.best_epoch, scores, position.epoch, None, position.spent)


def _so_far(folder: Path) -> tuple[dict[str, Tensor], Trained]:
    """The best weights of the newest checkpoint; of a run that has ended, those of its end."""
    if (folder / WEIGHTS).exists():
        check(folder, (WEIGHTS,))
        return read_weights(folder), _trained(folder)
    found = best_so_far(folder)
    if found is None or not found[0].scores:
        raise DataError(f"{folder}: nothing was evaluated and saved yet; wait for a checkpoint")
    position, weights = found
    return weights, Trained(position.best_epoch, tuple(position.scores), position.epoch)


def is_adopted(folder: Path) -> bool:
    """Whether another library trained what is in a run's folder."""
    trace = folder / TRACE
    return trace.exists() and any(event.get("event") == ADOPTED for event in read_events(trace))


def begun_with(folder: Path) -> Values | None:
    """The settings of a run that was begun here; what did not exist then has its default."""
    if not (path := folder / SETTINGS).exists():
        return None
    sections = read_toml(path)
    sections.pop("benchmark", None)
    return of_sections(sections, path).sections()


def new_run(
    folder: Path, settings: Settings, origin: Mapping[str, str], vocabulary: Vocabulary
) -> AbstractContextManager[Path]:
    """A folder to write to, which becomes that of a new run if no error occurs."""
    return make_run(folder, _written(settings, origin), vocabulary)


def start_run(
    folder: Path, settings: Settings, origin: Mapping[str, str], vocabulary: Vocabulary
) -> dict[str, dict[str, Any]]:
    """Makes the folder of a run, or takes up the one that is there.

    A run that is there must have the same settings and benchmark, but for those that do not change
    the model (`FREE`). Returns the free ones that differ: name -> what it was, what it is now.
    """
    wanted = {**settings.sections(), "benchmark": dict(origin)}
    if not (path := folder / SETTINGS).exists():
        with new_run(folder, settings, origin, vocabulary):
            return {}
    there = read_toml(path)
    before = there.pop("benchmark", {})
    # What did not exist when the run was begun has its default.
    there = {**of_sections(there, path).sections(), "benchmark": before}
    changed = {}
    for section, values in wanted.items():
        for name, value in values.items():
            was = there[section].get(name)
            if was == value or (section, name) == ("benchmark", "path"):
                continue
            if section != "train" or name not in FREE:
                raise DataError(
                    f"{path}: this run has {section}.{name} = {was!r}, not {value!r}; "
                    "choose another folder"
                )
            changed[name] = {"was": was, "is": value}
    check_names(folder, vocabulary)
    check(folder, (SETTINGS, ENTITIES, RELATIONS))
    return changed


def change_settings(folder: Path, settings: Settings, origin: Mapping[str, str]) -> None:
    """Writes the settings of a run anew, where free ones changed."""
    write_settings(folder, _written(settings, origin))


def _written(settings: Settings, origin: Mapping[str, str]) -> str:
    return to_toml({**settings.sections(), "benchmark": dict(origin)})
