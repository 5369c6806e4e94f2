"""A run folder: the settings, names and weights of a trained model, and their checksums."""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from safetensors.torch import save_file
from torch import Tensor

from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.atomic import beside, folder_beside
from assent.files.guarding import refuse_special
from assent.files.own_layout import read_names, write_names
from assent.files.places import CHECKPOINTS, SETTINGS
from assent.files.recording import forget, recorded, seal_folder
from assent.files.tensors import Piecewise, is_finite, read_tensors, write_tensors
from assent.files.text import can_be_path

WEIGHTS = "model.safetensors"
RULES = "rules.tsv"
TRACE = "trace.jsonl"
METRICS = "metrics.json"
ENTITIES, RELATIONS = "entities.tsv", "relations.tsv"
PLACE = "benchmark.path"  # where the benchmark was found last: a hint, which nothing rests on


@contextmanager
def make_run(folder: Path, settings: str, vocabulary: Vocabulary) -> Iterator[Path]:
    """A folder to write to, with names and settings (TOML), which becomes that of a new run.

    What is written to it comes with it, all at once: a kill leaves no run that is there in part.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder}: is there already and is no run; choose another folder")
    with folder_beside(folder, lambda _: False) as part:
        write_names(vocabulary.entities, vocabulary.entity_labels, part / ENTITIES)
        write_names(vocabulary.relations, vocabulary.relation_labels, part / RELATIONS)
        (part / SETTINGS).write_text(settings, encoding="utf-8")
        seal_folder(part)
        yield part


def write_settings(folder: Path, settings: str) -> None:
    with recorded(folder / SETTINGS) as part:
        part.write_text(settings, encoding="utf-8")


def check_names(folder: Path, vocabulary: Vocabulary) -> None:
    """Refuses a run whose files of names are not those of its benchmark."""
    for name, mine in ((ENTITIES, vocabulary.entities), (RELATIONS, vocabulary.relations)):
        if (path := folder / name).exists() and read_names(path)[0] != mine:
            raise DataError(f"{path}: not the names of the benchmark that the run was trained on")


@contextmanager
def training_in(folder: Path) -> Iterator[None]:
    """Keeps other processes from training the same run; ends with this one, however it ends."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise DataError(f"{folder}: is being trained by another process") from error
    finally:
        os.close(handle)


def forget_training(folder: Path) -> None:
    """Takes away all that training has written: the run is as if it had just been made."""
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    for name in (WEIGHTS, TRACE):
        if (folder / name).exists():
            forget(folder / name)
            (folder / name).unlink()


def save_weights(folder: Path, weights: dict[str, Tensor]) -> None:
    """Writes the weights of a run, and their checksum."""
    with recorded(folder / WEIGHTS) as part:
        save_file({name: tensor.contiguous().cpu() for name, tensor in weights.items()}, part)


def save_pieces(folder: Path, weights: Mapping[str, Piecewise]) -> None:
    """Writes weights that come in pieces, because they do not fit into memory."""
    with recorded(folder / WEIGHTS) as part:
        write_tensors(part, weights)


def read_weights(folder: Path) -> dict[str, Tensor]:
    path = folder / WEIGHTS
    refuse_special(path)
    if not path.is_file():
        raise DataError(
            f"{folder}: no {WEIGHTS}; train the run to its end first, or say --unfinished to use "
            "its best weights so far"
        )
    weights = read_tensors(path, "weights that assent wrote")
    for name, tensor in weights.items():
        if not is_finite(tensor):
            raise DataError(f"{path}: {name} has weights that are no finite numbers; train again")
    return weights


def read_place(folder: Path) -> Path | None:
    """Where the benchmark of a run was found last, if that is known."""
    with suppress(OSError, UnicodeDecodeError, DataError, ValueError):
        refuse_special(path := folder / PLACE)
        stated = path.read_text(encoding="utf-8").strip()
        return Path(stated) if can_be_path(stated) else None
    return None


def keep_place(folder: Path, benchmark: Path) -> None:
    """Notes where the benchmark of a run is; in a folder that cannot be written to, nothing."""
    if read_place(folder) != benchmark:
        with suppress(DataError, UnicodeError), beside(folder / PLACE) as part:
            part.write_text(f"{benchmark}\n", encoding="utf-8")


def write_rules(folder: Path, lines: Iterable[str]) -> None:
    """Rules for people to read, a line each."""
    with recorded(folder / RULES) as part, part.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
