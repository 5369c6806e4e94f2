"""Deciders as JSON: a threshold for each relation and direction, by name."""

import json
import math
from pathlib import Path
from typing import Any

from assent.core.thresholds import Thresholds
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.saving import beside

FORMAT = 1
DECIDER = "decider.json"
SIDES = ("tail", "head")  # what is asked for


def decider_file(path: Path) -> Path:
    """The file itself, or that of a run folder."""
    return path / DECIDER if path.is_dir() else path


def write_decider(
    path: Path,
    rule: str,
    objective: str,
    thresholds: Thresholds,
    found: dict[str, Any],
    vocabulary: Vocabulary,
    judge: dict[str, Any] | None = None,
) -> None:
    values = [_written(value) for value in thresholds.values.tolist()]
    count = vocabulary.num_relations
    document = {
        "format": FORMAT,
        "rule": rule,
        "objective": objective,
        "found": found,
        "thresholds": {
            side: dict(zip(vocabulary.relations, values[start : start + count], strict=True))
            for side, start in zip(SIDES, (0, count), strict=True)
        },
        **({} if judge is None else {"judge": judge}),
    }
    with beside(path) as part:
        part.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def read_decider(path: Path, vocabulary: Vocabulary) -> tuple[str, str, Thresholds, dict[str, Any]]:
    """Rule, objective, thresholds and what was found on valid."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            raise DataError(f"{path}: format {document['format']!r}; expected {FORMAT}")
        sides = document["thresholds"]
        values = [
            _read(sides[side][relation]) for side in SIDES for relation in vocabulary.relations
        ]
        names = set(vocabulary.relations)
        strange = [name for side in SIDES for name in sides[side] if name not in names]
        rule, objective, found = document["rule"], document["objective"], document["found"]
    except FileNotFoundError as error:
        raise DataError(f"{path}: no thresholds yet; `assent tune` finds them") from error
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise DataError(f"{path}: not a decider for this benchmark ({error!r})") from error
    if strange:
        raise DataError(f"{path}: a threshold for {strange[0]!r}, unknown to the benchmark")
    return str(rule), str(objective), Thresholds.of(values), dict(found)


def _written(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else str(value)


def _read(value: object) -> float:
    if isinstance(value, str) and value not in ("inf", "-inf"):
        raise ValueError(f"{value!r} is no threshold")
    return float(value)  # type: ignore[arg-type]
