"""Nouns as a prompt shows them: what they hold, never all of it."""

from collections.abc import Mapping, Sized
from dataclasses import fields
from typing import Any

LONGEST = 60  # letters of a value


def brief(noun: Any) -> str:
    """A dataclass with its fields: arrays by their shape, what is long by how much there is."""
    parts = (f"{field.name}={_value(getattr(noun, field.name))}" for field in fields(noun))
    return f"{type(noun).__name__}({', '.join(parts)})"


def _value(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"<{' x '.join(f'{size:,}' for size in shape) or 'one'} {value.dtype}>"
    if isinstance(value, Mapping | tuple | list | set | frozenset) and len(value):
        return f"<{_counted(value)}>"
    text = repr(value)
    return text if len(text) <= LONGEST else f"<{type(value).__name__}>"


def _counted(value: Sized) -> str:
    return "1 item" if len(value) == 1 else f"{len(value):,} items"
