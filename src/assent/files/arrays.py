"""Named arrays in one file, which is whole or not there."""

import hashlib
import zipfile
from collections.abc import Collection, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assent.core.arrays import frozen
from assent.errors import DataError
from assent.files.atomic import Beside, beside
from assent.files.checksums import SEAL
from assent.files.guarding import parsing, refuse_special

MOST_BYTES = 1 << 30  # of all arrays together: a file is hostile until parsed


def write_arrays(path: Path, arrays: Mapping[str, ArrayLike], beside: Beside = beside) -> str:
    """Writes arrays, numbers and texts, and their checksum, which it returns."""
    named: dict[str, Any] = {name: np.asarray(value) for name, value in arrays.items()}
    seal = seal_of(named)
    named[SEAL] = np.asarray(seal)
    with beside(path, own=True) as part, part.open("wb") as file:
        np.savez(file, **named)
    return seal


def read_arrays(path: Path) -> dict[str, NDArray[Any]] | None:
    """What `write_arrays` wrote; None: there is no such file."""
    if not path.exists():
        return None
    refuse_special(path)
    with parsing(path, "arrays that assent wrote; remove it"):
        found = arrays_in(path.read_bytes())
        arrays = {name: frozen(x, x.dtype.type) for name, x in found.items()}
        if SEAL in arrays and str(arrays.pop(SEAL)) != seal_of(arrays):
            raise DataError(
                f"{path}: no arrays that assent wrote (their checksum is wrong); remove it"
            )
        return arrays


def has_arrays(path: Path, names: Collection[str]) -> bool:
    """Whether a file has arrays of these names, and no others, by its list of contents."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {*archive.namelist()} == {f"{name}.npy" for name in names}
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def arrays_in(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file; no objects, and no more of them than fit into memory."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MOST_BYTES:
            raise DataError(f"unpacks to more than {MOST_BYTES >> 20} MB")
    with np.load(BytesIO(data), allow_pickle=False) as file:
        found = {name: file[name] for name in file.files}
    for name, array in found.items():
        if not isinstance(array, np.ndarray):  # a member that is no .npy file
            raise DataError(f"{name}: no array")
    return found


def seal_of(arrays: Mapping[str, NDArray[Any]]) -> str:
    """The sha256 of all that these arrays say."""
    sha = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        sha.update(f"{name} {array.dtype.str} {array.shape}\0".encode())
        sha.update(array.tobytes())
    return sha.hexdigest()
