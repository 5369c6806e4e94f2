"""A run folder: the settings, names and weights of a trained model."""

import fcntl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor

from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.atomic import beside
from assent.files.benchmarks import write_names
from assent.files.guarding import parsing

SETTINGS = "settings.toml"
WEIGHTS = "model.safetensors"
RULES = "rules.tsv"


def make_run(folder: Path, settings: str, vocabulary: Vocabulary) -> None:
    """Makes the folder of a new run, with its names and its settings as TOML."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder}: is there already and is no run; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    write_names(vocabulary.entities, vocabulary.entity_labels, folder / "entities.tsv")
    write_names(vocabulary.relations, vocabulary.relation_labels, folder / "relations.tsv")
    write_settings(folder, settings)


def write_settings(folder: Path, settings: str) -> None:
    with beside(folder / SETTINGS) as part:
        part.write_text(settings, encoding="utf-8")


@contextmanager
def training_in(folder: Path) -> Iterator[None]:
    """Keeps other processes from training the same run; ends with this one, however it ends."""
    with (folder / SETTINGS).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DataError(f"{folder}: is being trained by another process") from error
        yield


def save_weights(folder: Path, weights: dict[str, Tensor]) -> None:
    with beside(folder / WEIGHTS) as part:
        save_file({name: tensor.contiguous().cpu() for name, tensor in weights.items()}, part)


def read_weights(folder: Path) -> dict[str, Tensor]:
    path = folder / WEIGHTS
    if not path.is_file():
        raise DataError(
            f"{folder}: no {WEIGHTS}; train the run to its end first, or say --unfinished to use "
            "its best weights so far"
        )
    with parsing(path, "weights that assent wrote"):
        weights = load_file(path)
    for name, tensor in weights.items():
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise DataError(f"{path}: {name} has weights that are no finite numbers; train again")
    return weights


def write_rules(folder: Path, lines: Iterable[str]) -> None:
    """Rules for people to read, a line each."""
    with beside(folder / RULES) as part, part.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
