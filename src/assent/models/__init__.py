"""Models, one formula a file: each turns a query into vectors and names a geometry."""

import re
import sys
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
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

    They are those that the files of this folder register, those that anyone registered since, and
    those that installed packages have in the group `assent.models` of their entry points.
    """
    embedding = sys.modules.get(f"{__name__}.embedding")
    later = embedding.Embedding.registered if embedding else ()
    return tuple(sorted({*_in_files(), *later, *in_packages()}))


@cache
def _in_files() -> frozenset[str]:
    """The names in lines like `class ComplEx(DotModel, name="complex"):`."""
    texts = (path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py"))
    return frozenset(name for text in texts for name in _REGISTERED.findall(text))


@cache
def in_packages() -> dict[str, EntryPoint]:
    """The models of installed packages: name -> where its class is."""
    return {found.name: found for found in entry_points(group="assent.models")}


def __getattr__(name: str) -> Any:
    """Imports what needs torch when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
