"""Named arrays in one file, which is whole or not there."""

import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assent.core.arrays import frozen
from assent.errors import DataError
from assent.files.atomic import beside
from assent.files.checksums import SEAL
from assent.files.text import refuse_special


def write_arrays(path: Path, arrays: Mapping[str, ArrayLike]) -> None:
    """Writes arrays, numbers and texts, and their checksum."""
    named: dict[str, Any] = {name: np.asarray(value) for name, value in arrays.items()}
    named[SEAL] = np.asarray(_seal(named))
    with beside(path) as part, part.open("wb") as file:
        np.savez(file, **named)


def read_arrays(path: Path) -> dict[str, NDArray[Any]] | None:
    """What `write_arrays` wrote; None: there is no such file."""
    if not path.exists():
        return None
    refuse_special(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            arrays = {name: frozen(found[name], found[name].dtype.type) for name in found.files}
        if SEAL in arrays and str(arrays.pop(SEAL)) != _seal(arrays):
            raise ValueError("their checksum is wrong")
        return arrays
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: no arrays that assent wrote ({error}); remove it") from error


def _seal(arrays: Mapping[str, NDArray[Any]]) -> str:
    """The sha256 of all that these arrays say."""
    sha = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        sha.update(f"{name} {array.dtype.str} {array.shape}\0".encode())
        sha.update(array.tobytes())
    return sha.hexdigest()
