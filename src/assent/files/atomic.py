"""Files and folders that are written whole or not at all: beside their place, then renamed."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from assent.errors import DataError


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A path to write a file to, which is renamed to `path` if no error occurs."""
    with _refusing(path):
        target = path.resolve()  # what a link leads to is replaced, not the link
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}.", suffix=".part"
        )
        os.close(handle)
        part = Path(name)
        try:
            yield part
            part.chmod(0o666 & ~_umask())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def folder_beside(path: Path, may_replace: Callable[[Path], bool]) -> Iterator[Path]:
    """A new folder to write to, which is renamed to `path` if no error occurs.

    A folder that is there already is replaced only if empty, or if `may_replace` says so.
    """
    with _refusing(path):
        refuse_to_replace(path, may_replace)
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part"))
        try:
            yield part
            part.chmod(0o777 & ~_umask())
            _put(part, target)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def refuse_to_replace(path: Path, may_replace: Callable[[Path], bool]) -> None:
    """Raises an error, before any work is done, if the result could not be saved."""
    with _refusing(path):
        path.resolve()
        path.exists()
    if path.exists() and not (path.is_dir() and (not any(path.iterdir()) or may_replace(path))):
        raise DataError(f"{path}: is there already; choose another place, or say to overwrite")


def refuse_to_write(path: Path, overwrite: bool) -> None:
    """Raises an error, before any work is done, if a file is there already or cannot be written."""
    with _refusing(path):
        if path.is_dir():
            raise DataError(f"{path}: is a folder; choose a file")
        if path.exists() and not overwrite:
            raise DataError(f"{path}: is there already; choose another place, or say to overwrite")
        place = path.resolve().parent
        while not place.exists():
            place = place.parent
        with tempfile.NamedTemporaryFile(dir=place, prefix=f".{path.name}."):
            pass


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError) as error:  # a link that leads to itself is a RuntimeError
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: cannot be written: {reason}; choose another place") from error


def _put(part: Path, target: Path) -> None:
    """Gives a folder its final name; if that fails, the folder that had it keeps it."""
    if not target.exists():
        part.rename(target)
        return
    old = part.with_suffix(".old")
    target.rename(old)
    try:
        part.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
