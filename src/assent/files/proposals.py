"""The facts that `assent complete` proposes, as its .jsonl files have them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from assent.core.completions import Chain, Names
from assent.errors import DataError
from assent.files.text import is_text, lines_of

DECISIONS = ("accepted", "review")


class Proposal(NamedTuple):
    """A fact that is not in the graph, and what speaks for it."""

    fact: Names
    decision: str
    probability: float
    expected_precision: float | None
    evidence: tuple[Chain, ...]


def read_proposals(path: Path) -> Iterator[Proposal]:
    """A fact a line; nothing is kept, so that a file may be larger than the memory."""
    for number, line in enumerate(lines_of(path), 1):
        try:
            yield _proposal(json.loads(line))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            wrong = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise DataError(
                f"{path}:{number}: {wrong}; expected a line of `assent complete`, as .jsonl"
            ) from error


def _proposal(line: dict[str, Any]) -> Proposal:
    if line["decision"] not in DECISIONS:
        raise ValueError(f"decision {line['decision']!r}")
    expected = line["expected_precision"]
    return Proposal(
        _names([line["head"], line["relation"], line["tail"]]),
        line["decision"],
        _share(line["probability"]),
        None if expected is None else _share(expected),
        tuple(_chain(given) for given in line["evidence"]),
    )


def _chain(given: dict[str, Any]) -> Chain:
    facts = tuple(_names(fact) for fact in given["facts"])
    return Chain(facts, int(given["support"]), int(given["cases"]))


def _names(given: list[Any]) -> Names:
    head, relation, tail = given
    if not all(is_text(name) for name in given):
        raise ValueError(f"names {given!r}")
    return head, relation, tail


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is no share of 1")
    return float(value)
