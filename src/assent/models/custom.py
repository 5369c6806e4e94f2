"""Models in files of the user's own: `my_model.py:MyModel`. Errors in them are told as theirs.

In settings such a model is `/path/my_model.py:MyModel@sha256`: a run is of the code as it was when
it was trained, and of no other.
"""

import hashlib
import inspect
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from assent.errors import AssentError, ConfigError, ModelFileError
from assent.models.embedding import Embedding

_LOADED: dict[str, ModuleType] = {}  # by the checksum of the file


class Custom(NamedTuple):
    """A class in a file."""

    path: str
    kind: str  # the name of the class
    sha256: str  # of the file; empty: as it is now

    @classmethod
    def of(cls, name: str) -> "Custom | None":
        """What `my_model.py:MyModel` names; None for a name that is no file's."""
        found = re.fullmatch(r"(.+\.py):(\w*)(?:@([0-9a-f]{64}))?", name, re.DOTALL)
        return cls(found[1], found[2], found[3] or "") if found else None

    def __str__(self) -> str:
        return f"{self.path}:{self.kind}@{self.sha256}"

    def pinned(self) -> "Custom":
        """This class by its whole path, and with the checksum that its file has now."""
        path = Path(self.path).resolve()
        return self._replace(path=str(path), sha256=checksum(path))


def checksum(path: Path) -> str:
    return hashlib.sha256(_content(path)).hexdigest()


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; expected the file of a model") from error


def load(custom: Custom) -> type[Embedding]:
    """The class in the file, which is run once; one that is not the code it was is refused."""
    if custom.sha256 not in _LOADED:
        _LOADED[custom.sha256] = _run(custom)
    found = getattr(_LOADED[custom.sha256], custom.kind, None)
    if not (inspect.isclass(found) and issubclass(found, Embedding)):
        raise ConfigError(
            f"{custom.path}: no class {custom.kind} that is an Embedding; expected one such as "
            f"class {custom.kind or 'MyModel'}(assent.models.embedding.DotModel)"
        )
    if inspect.isabstract(found) or not hasattr(found, "Settings"):
        raise ConfigError(f"{custom.path}: {custom.kind} lacks encode, or Settings")
    return found


def _run(custom: Custom) -> ModuleType:
    content = _content(Path(custom.path))
    if hashlib.sha256(content).hexdigest() != custom.sha256:
        raise ConfigError(f"{custom.path}: has changed since the run began; put it back as it was")
    module = ModuleType(f"assent_model_{custom.sha256[:16]}")
    module.__file__ = custom.path
    sys.modules[module.__name__] = module  # where dataclasses look for the types of their fields
    registered = dict(Embedding.registered)
    try:
        with theirs(custom.path):
            exec(compile(content, custom.path, "exec"), module.__dict__)
    finally:  # its names are its own: no file takes the place of one of our models
        Embedding.registered.clear()
        Embedding.registered.update(registered)
    return module


@contextmanager
def theirs(path: str | None = None) -> Iterator[None]:
    """Within it, an error in the code of a user's model names the file and the line, as theirs."""
    try:
        yield
    except (AssentError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        files = {path, *(module.__file__ for module in _LOADED.values())}
        frames = traceback.extract_tb(error.__traceback__)
        mine = [frame for frame in frames if frame.filename in files]
        if isinstance(error, SyntaxError) and error.filename in files:
            where = f"{error.filename}:{error.lineno}"
        elif mine:
            where = f"{mine[-1].filename}:{mine[-1].lineno}: in {mine[-1].name}"
        else:
            raise
        said = next(iter(str(error).strip().splitlines()), "")
        raise ModelFileError(f"{where}: {type(error).__name__}: {said}") from error
