"""What parsers say about hostile files, in one line; and places that are no plain files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assent.core.legible import first_line, in_words
from assent.errors import AssentError, DataError

# What our own code raises where a document has other things in it than it should: a key is not
# there, a list stands for a number, a number is too large.
MALFORMED = (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError)


@contextmanager
def parsing(
    path: Path | str, expected: str, refusal: type[AssentError] = DataError
) -> Iterator[None]:
    """Turns whatever a parser raises about a file into a refusal of that file.

    Parsers of others raise anything: what numpy, zipfile or safetensors say about a damaged header
    depends on the byte. Only calls of such parsers belong within.
    """
    try:
        yield
    except AssentError:
        raise
    except OSError as error:
        reason = error.strerror or first_line(error)
        raise refusal(f"{path}: {reason}; expected {expected}") from error
    except MemoryError as error:
        raise refusal(f"{path}: says that it needs more memory than there is") from error
    except Exception as error:
        raise refusal(f"{path}: {in_words(error)}; expected {expected}") from error


def refuse_special(path: Path, refusal: type[AssentError] = DataError) -> None:
    """Refuses a pipe, socket or device in the place of a file: reading it might never end."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a pipe, socket or device"
        raise refusal(f"{path}: is {kind}; expected a file")
