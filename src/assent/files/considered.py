"""What a completion decided by, kept in the folder of a run: every candidate, and its probability.

`assent ask` answers from it as the completion would. Where there is none, `assent ask --precision`
asks all queries itself, and keeps the same of its own.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import frozen
from assent.core.considered import Considered
from assent.core.legible import in_words
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.arrays import read_arrays, seal_of, write_arrays
from assent.files.atomic import Beside, beside
from assent.files.guarding import MALFORMED
from assent.files.places import CONSIDERED

FORMAT = 2  # 1 had one threshold for all relations
PLAIN = ("precision", "missing")


class Record(NamedTuple):
    """The file as it is, which may be of other names than those of the run that it lies in."""

    path: Path
    seal: str  # the checksum of what it says: the completion that it belongs to has the same
    model: str  # the checksum of the model that was asked
    precision: float  # wanted
    asked: bool  # by `ask`, for itself; otherwise a completion wrote it
    about: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    def fitting(self, names: list[Vocabulary]) -> Considered | None:
        """What it says, with the first of these vocabularies that it fits; None: it fits none."""
        with _saying(self.path):
            about, arrays = self.about, self.arrays
            sizes = (about["entities"], about["relations"])
            fits = [one for one in names if (one.num_entities, one.num_relations) == sizes]
            if not fits:
                return None
            one_for_all = about["format"] == 1
            thresholds = (
                np.full(sizes[1], float(about["threshold"]))
                if one_for_all
                else arrays["thresholds"]
            )
            return Considered(
                fits[0],
                frozen(arrays["facts"].reshape(-1, 3)),
                frozen(arrays["probabilities"], np.float64),
                frozen(arrays["bars"], np.int8),
                tuple(map(str, about["reasons"])),
                self.precision,
                frozen(thresholds, np.float64),
                float(about["missing"]),
            )


def write_considered(
    folder: Path, found: Considered, model: str, *, asked: bool = False, beside: Beside = beside
) -> str:
    """Puts it into the folder of a run; returns its checksum.

    `model` is the checksum of the model that was asked; `asked` says that `ask` did, for itself.
    """
    about = {
        "format": FORMAT,
        "model": model,
        "asked": asked,
        "entities": found.vocabulary.num_entities,
        "relations": found.vocabulary.num_relations,
        "reasons": found.reasons,
        **{name: getattr(found, name) for name in PLAIN},
    }
    return write_arrays(
        folder / CONSIDERED,
        {
            "about": json.dumps(about),
            "facts": found.facts,
            "probabilities": found.probabilities,
            "bars": found.bars,
            "thresholds": found.thresholds,
        },
        beside,
    )


def read_record(folder: Path) -> Record | None:
    """What `write_considered` wrote; None: there is no such file, or one of a later format."""
    if (arrays := read_arrays(path := folder / CONSIDERED)) is None:
        return None
    with _saying(path):
        about = json.loads(str(arrays["about"]))
        if about["format"] not in (1, FORMAT):
            return None
        return Record(
            path,
            seal_of(arrays),
            str(about["model"]),
            float(about["precision"]),
            about.get("asked") is True,
            about,
            arrays,
        )


def read_considered(folder: Path, names: list[Vocabulary], model: str) -> Considered | None:
    """What `write_considered` wrote, with the first of these vocabularies that it fits.

    None where there is nothing, or nothing of this model.
    """
    record = read_record(folder)
    return None if record is None or record.model != model else record.fitting(names)


@contextmanager
def _saying(path: Path) -> Iterator[None]:
    """Turns what parsing raises into a refusal of the file, in one line."""
    try:
        yield
    except MALFORMED as error:
        raise DataError(
            f"{path}: no record of a completion ({in_words(error)}); remove it"
        ) from error
