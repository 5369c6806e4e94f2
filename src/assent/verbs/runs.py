"""A run: a trained model, what it was trained on, and how. `train` makes it, the others load it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from torch import Tensor

from assent.core.benchmark import Benchmark
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files import benchmarks
from assent.files.guarding import parsing
from assent.files.runs import SETTINGS, WEIGHTS, make_run, read_weights, write_settings
from assent.models import Model
from assent.rules.model import RuleModel
from assent.settings import Settings, Values, new_model, of_sections, read_toml, to_toml
from assent.training.checkpoints import best_so_far
from assent.training.loop import FREE
from assent.training.trace import Trained, read_trained
from assent.verbs.read import place


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A trained model, what it was trained on, and how."""

    benchmark: Benchmark
    settings: Settings
    model: Model | RuleModel
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


def load_benchmark(source: Benchmark | str | Path) -> Benchmark:
    """The benchmark of a folder, or of a data set by its name; a benchmark as it is."""
    return source if isinstance(source, Benchmark) else benchmarks.load(place(source))


def load_run(folder: str | Path, on: str | Path | None = None, *, unfinished: bool = False) -> Run:
    """A trained run, with the benchmark that it was trained on.

    With `on`, it is to be measured on another benchmark that has the same train facts. With
    `unfinished`, a run that is still being trained, or was stopped, gives its best weights so far.
    """
    folder = Path(folder)
    sections = read_toml(folder / SETTINGS)
    origin = sections.pop("benchmark", {})
    settings = of_sections(sections)
    with parsing(folder / SETTINGS, "where its benchmark lies"):
        where = str(origin.get("path", ""))
    benchmark = benchmarks.load(where)
    if benchmark.digest() != origin.get("sha256"):
        raise DataError(f"{origin.get('path')}: not the benchmark that {folder} was trained on")
    model = new_model(settings, benchmark.vocabulary)
    weights, trained = (_so_far if unfinished else _at_the_end)(folder)
    with parsing(folder, f"the weights of a model {settings.name} with these settings"):
        model.load_state_dict(weights)
    run = Run(benchmark, settings, model.eval(), trained, folder)
    return run if on is None else run.on(load_benchmark(on))


def _at_the_end(folder: Path) -> tuple[dict[str, Tensor], Trained]:
    return read_weights(folder), read_trained(folder / "trace.jsonl")


def _so_far(folder: Path) -> tuple[dict[str, Tensor], Trained]:
    """The best weights of the newest checkpoint; of a run that has ended, those of its end."""
    if (folder / WEIGHTS).exists():
        return _at_the_end(folder)
    found = best_so_far(folder)
    if found is None or not found[0].scores:
        raise DataError(f"{folder}: nothing was evaluated and saved yet; wait for a checkpoint")
    position, weights = found
    return weights, Trained(position.best_epoch, tuple(position.scores), position.epoch)


def begun_with(folder: Path) -> Values | None:
    """The settings of a run that was begun here; what did not exist then has its default."""
    if not (path := folder / SETTINGS).exists():
        return None
    sections = read_toml(path)
    sections.pop("benchmark", None)
    return of_sections(sections).sections()


def start_run(
    folder: Path, settings: Settings, origin: Mapping[str, str], vocabulary: Vocabulary
) -> dict[str, dict[str, Any]]:
    """Makes the folder of a run, or takes up the one that is there.

    A run that is there must have the same settings and benchmark, but for those that do not change
    the model (`FREE`). Returns the free ones that differ: name -> what it was, what it is now.
    """
    wanted = {**settings.sections(), "benchmark": dict(origin)}
    if not (path := folder / SETTINGS).exists():
        make_run(folder, to_toml(wanted), vocabulary)
        return {}
    there = read_toml(path)
    before = there.pop("benchmark", {})
    # What did not exist when the run was begun has its default.
    there = {**of_sections(there).sections(), "benchmark": before}
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
    if changed:
        write_settings(folder, to_toml(wanted))
    return changed
