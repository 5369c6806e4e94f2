"""Named arrays in one file, which is whole or not there."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assent.core.arrays import frozen
from assent.errors import DataError
from assent.files.atomic import beside


def write_arrays(path: Path, arrays: Mapping[str, ArrayLike]) -> None:
    """Writes arrays, numbers and texts."""
    named: dict[str, Any] = {name: np.asarray(value) for name, value in arrays.items()}
    with beside(path) as part, part.open("wb") as file:
        np.savez(file, **named)


def read_arrays(path: Path) -> dict[str, NDArray[Any]] | None:
    """What `write_arrays` wrote; None: there is no such file."""
    if not path.exists():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            return {name: frozen(found[name], found[name].dtype.type) for name in found.files}
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: no arrays that assent wrote ({error}); remove it") from error
