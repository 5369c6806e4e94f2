"""What parsers say about hostile files, in one line; and places that are no plain files."""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assent.core.legible import first_line
from assent.errors import AssentError, DataError


@contextmanager
def parsing(
    path: Path | str, expected: str, refusal: type[AssentError] = DataError
) -> Iterator[None]:
    """Whatever a parser raises about a file is a refusal of that file.

    Parsers of others raise anything: what numpy, zipfile or safetensors say about a damaged header
    depends on the byte. Only calls of such parsers belong within.
    """
    try:
        yield
    except AssentError:
        raise
    except FileNotFoundError as error:
        raise refusal(f"{path}: no such file; expected {expected}") from error
    except OSError as error:
        reason = error.strerror or first_line(error)
        raise refusal(f"{path}: {reason}; expected {expected}") from error
    except MemoryError as error:
        raise refusal(f"{path}: says that it needs more memory than there is") from error
    except Exception as error:
        raise refusal(f"{path}: {first_line(error)}; expected {expected}") from error


def refuse_special(path: Path, refusal: type[AssentError] = DataError) -> None:
    """Raises an error for a folder, a pipe or a device: reading one of these may never end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise refusal(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if stat.S_ISDIR(mode):
        raise refusal(f"{path}: Is a directory")
    if not stat.S_ISREG(mode):
        raise refusal(f"{path}: a pipe or a device; expected a file")
