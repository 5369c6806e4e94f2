"""Files are written beside their place and renamed: nothing half-written has a final name."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from assent.errors import DataError


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A place to write a file to, which becomes `path` when all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def folder_beside(path: Path, may_replace: Callable[[Path], bool]) -> Iterator[Path]:
    """A folder to write to, which becomes `path` when all went well.

    A folder that is there already is replaced only if empty, or if `may_replace` says so.
    """
    refuse_to_replace(path, may_replace)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part"))
    try:
        yield part
        part.chmod(0o777 & ~_umask())
        if path.exists():
            old = part.with_suffix(".old")
            path.rename(old)
            part.rename(path)
            shutil.rmtree(old)
        else:
            part.rename(path)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def refuse_to_replace(path: Path, may_replace: Callable[[Path], bool]) -> None:
    """Ends early, before any work, where the result could not be saved."""
    if path.exists() and not (path.is_dir() and (not any(path.iterdir()) or may_replace(path))):
        raise DataError(f"{path}: is there already; choose another place, or say to overwrite")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
