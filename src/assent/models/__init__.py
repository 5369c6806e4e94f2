"""Models, one formula a file: each turns a query into vectors and names a geometry."""

import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assent.models.base import Model, ModelSettings
    from assent.models.registry import create, settings_of

__all__ = ["Model", "ModelSettings", "create", "names", "settings_of"]

_HOMES = {"Model": "base", "ModelSettings": "base", "create": "registry", "settings_of": "registry"}
_REGISTERED = re.compile(r'^class \w+\(.*\bname="([^"]+)"', re.MULTILINE)


def names() -> tuple[str, ...]:
    """The models there are, found without importing them: `assent --help` need not wait for torch.

    They are those that the files of this folder register, and those that anyone registered since.
    """
    embedding = sys.modules.get(f"{__name__}.embedding")
    later = embedding.Embedding.registered if embedding else ()
    return tuple(sorted({*_in_files(), *later}))


@cache
def _in_files() -> frozenset[str]:
    """The names in lines like `class ComplEx(DotModel, name="complex"):`."""
    texts = (path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py"))
    return frozenset(name for text in texts for name in _REGISTERED.findall(text))


def __getattr__(name: str) -> Any:
    """Imports what needs torch when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
