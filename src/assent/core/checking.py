"""Names and values that people write, checked against those that exist."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from assent.errors import ConfigError

LARGEST = 2**63  # of the numbers that settings take; neither infinity nor "no number" is below
WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}


def checked(kind: type, values: Mapping[str, Any], section: str) -> dict[str, Any]:
    """The values, if each names a field of the dataclass `kind` and has its type; else an error."""
    types = get_type_hints(kind)
    known = [field.name for field in fields(kind)]
    for key in values:
        refuse_unknown(key, known, f"setting {section}.")
    return {key: _fitting(f"{section}.{key}", value, types[key]) for key, value in values.items()}


def refuse_unknown(word: str, right: Iterable[str], what: str) -> None:
    """Raises an error for a word that is not among the `right` ones; it names the nearest."""
    right = list(right)
    if word in right:
        return
    close = get_close_matches(word.lower(), right, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(right)}"
    named = f"{what}{word}" if what.endswith(".") else f"{what} {word!r}"
    raise ConfigError(f"unknown {named}; {hint}")


def _fitting(key: str, value: Any, kind: Any) -> Any:
    """The value, if it has this type; a whole number is also taken where a fraction may stand."""
    takes = (kind, *get_args(kind))
    if type(value) is float and float not in takes and int in takes:
        raise ConfigError(f"{key}: expected {WORDS[int]}, found {value!r}")
    if type(value) in (int, float) and not abs(value) < LARGEST:
        raise ConfigError(f"{key}: expected less than 2 to the 63rd power, found {str(value)[:40]}")
    if kind is float and type(value) is int:
        return float(value)
    if get_origin(kind) is Literal:
        if any(value == choice and type(value) is type(choice) for choice in get_args(kind)):
            return value
        raise ConfigError(
            f"{key}: expected {' or '.join(map(repr, get_args(kind)))}, found {value!r}"
        )
    if type(value) is kind or (isinstance(kind, UnionType) and type(value) in get_args(kind)):
        return value
    raise ConfigError(f"{key}: expected {WORDS.get(kind, kind)}, found {value!r}")
