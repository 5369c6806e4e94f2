"""What a completion decided by, kept in the folder of a run: every candidate, and its probability.

`assent ask` answers from it as the completion would.
"""

import json
from pathlib import Path

import numpy as np

from assent.core.arrays import frozen
from assent.core.considered import Considered
from assent.core.legible import in_words
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.arrays import read_arrays, write_arrays
from assent.files.places import CONSIDERED

FORMAT = 2  # 1 had one threshold for all relations
PLAIN = ("precision", "missing")


def write_considered(folder: Path, found: Considered, model: str) -> None:
    """Puts it into the folder of a run; `model` is the checksum of the model that was asked."""
    about = {
        "format": FORMAT,
        "model": model,
        "entities": found.vocabulary.num_entities,
        "relations": found.vocabulary.num_relations,
        "reasons": found.reasons,
        **{name: getattr(found, name) for name in PLAIN},
    }
    write_arrays(
        folder / CONSIDERED,
        {
            "about": json.dumps(about),
            "facts": found.facts,
            "probabilities": found.probabilities,
            "bars": found.bars,
            "thresholds": found.thresholds,
        },
    )


def read_considered(folder: Path, names: list[Vocabulary], model: str) -> Considered | None:
    """What `write_considered` wrote, with the first of these vocabularies that it fits.

    None where there is nothing, or nothing of this model.
    """
    if (arrays := read_arrays(path := folder / CONSIDERED)) is None:
        return None
    try:
        about = json.loads(str(arrays["about"]))
        if about["format"] not in (1, FORMAT) or about["model"] != model:
            return None
        sizes = (about["entities"], about["relations"])
        fitting = [one for one in names if (one.num_entities, one.num_relations) == sizes]
        if not fitting:
            return None
        one_for_all = about["format"] == 1
        thresholds = (
            np.full(sizes[1], float(about["threshold"])) if one_for_all else arrays["thresholds"]
        )
        return Considered(
            fitting[0],
            frozen(arrays["facts"].reshape(-1, 3)),
            frozen(arrays["probabilities"], np.float64),
            frozen(arrays["bars"], np.int8),
            tuple(map(str, about["reasons"])),
            float(about["precision"]),
            frozen(thresholds, np.float64),
            float(about["missing"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: no record of a completion ({in_words(error)}); remove it"
        ) from error
