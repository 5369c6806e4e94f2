"""Judges on disk: what people can read in decider.json, the trees as plain arrays beside it."""

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.core.thresholds import Thresholds
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.atomic import beside
from assent.files.deciders import read_thresholds, written_thresholds

MOST_BYTES = 1 << 30  # of all arrays; a file is hostile until parsed

Arrays = Mapping[str, NDArray[Any]]


class Particulars(NamedTuple):
    """What a judge is, apart from its floors."""

    features: tuple[str, ...]
    cuts: Thresholds
    sources: tuple[tuple[str, str], ...]  # path of a run, checksum of its model
    arrays: Arrays  # the trees


def trees_file(path: Path) -> Path:
    """The trees that belong to a decider.json."""
    return path.with_suffix(".npz")


def write_trees(path: Path, judge: Particulars, vocabulary: Vocabulary) -> dict[str, Any]:
    """Writes the trees, and returns what decider.json is to say."""
    file = BytesIO()
    np.savez_compressed(file, allow_pickle=False, **judge.arrays)
    data = file.getvalue()
    with beside(trees_file(path)) as part:
        part.write_bytes(data)
    return {
        "features": list(judge.features),
        "cuts": written_thresholds(judge.cuts, vocabulary),
        "runs": [{"path": place, "sha256": checksum} for place, checksum in judge.sources],
        "trees": hashlib.sha256(data).hexdigest(),
    }


def read_judge(path: Path, vocabulary: Vocabulary) -> Particulars:
    """What stands in decider.json and beside it."""
    try:
        stated = json.loads(path.read_text(encoding="utf-8"))["judge"]
        features, checksum = _names(stated["features"]), stated["trees"]
        cuts = read_thresholds(stated["cuts"], vocabulary)
        sources = tuple((str(run["path"]), str(run["sha256"])) for run in stated["runs"])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise DataError(f"{path}: not a judge ({error!r})") from error
    return Particulars(features, cuts, sources, _read_trees(trees_file(path), checksum))


def _read_trees(path: Path, checksum: object) -> Arrays:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: the judge's trees cannot be read: {error}") from error
    if hashlib.sha256(data).hexdigest() != checksum:
        raise DataError(f"{path}: not the trees that decider.json was written with")
    return arrays_in(path, data)


def arrays_in(path: Path, data: bytes) -> Arrays:
    """The arrays of an .npz file; no objects, and no more than fit into memory."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MOST_BYTES:
                raise DataError(f"{path}: more than {MOST_BYTES >> 20} MB of trees")
        with np.load(BytesIO(data), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError, KeyError, MemoryError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: not a file of trees ({error!r})") from error


def _names(values: Sequence[object]) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("features are a list of names")
    return tuple(map(str, values))
