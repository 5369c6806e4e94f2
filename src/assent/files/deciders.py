"""Deciders as JSON: a threshold for each relation and direction, by name."""

import json
import math
from pathlib import Path
from typing import Any

from assent.core.probabilities import Probabilities
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import SIDES, Vocabulary
from assent.errors import DataError
from assent.files.atomic import beside
from assent.files.text import read_json

FORMAT = 1
DECIDER = "decider.json"
SIGMOIDS = ("intercept", "slope", "floor", "below")


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
    probabilities: Probabilities | None = None,
) -> None:
    document = {
        "format": FORMAT,
        "rule": rule,
        "objective": objective,
        "found": _written(found),
        "thresholds": written_thresholds(thresholds, vocabulary),
        **(
            {} if probabilities is None else {"probabilities": _sigmoids(probabilities, vocabulary)}
        ),
        **({} if judge is None else {"judge": judge}),
    }
    with beside(path) as part:
        part.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def read_decider(path: Path, vocabulary: Vocabulary) -> tuple[str, str, Thresholds, dict[str, Any]]:
    """Rule, objective, thresholds and what was found on valid."""
    if not path.exists():
        raise DataError(f"{path}: no thresholds yet; `assent tune` finds them")
    document = read_json(path)
    try:
        if document["format"] != FORMAT:
            raise DataError(f"{path}: format {document['format']!r}; expected {FORMAT}")
        thresholds = read_thresholds(document["thresholds"], vocabulary)
        rule, objective = document["rule"], document["objective"]
        found = _understood(dict(document["found"]))
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise DataError(f"{path}: not a decider for this benchmark ({error!r})") from error
    return str(rule), str(objective), thresholds, found


def written_thresholds(thresholds: Thresholds, vocabulary: Vocabulary) -> dict[str, Any]:
    """By side and relation, as JSON can have them."""
    return vocabulary.by_side(_written(thresholds.values.tolist()))


def read_thresholds(stated: Any, vocabulary: Vocabulary) -> Thresholds:
    """The same as thresholds again; hostile until parsed."""
    names = set(vocabulary.relations)
    for side in SIDES:
        for name in stated[side]:
            if name not in names:
                raise ValueError(f"a threshold for {name!r}, unknown to the benchmark")
    return Thresholds.of(
        [_read(stated[side][relation]) for side in SIDES for relation in vocabulary.relations]
    )


def read_probabilities(path: Path, vocabulary: Vocabulary) -> Probabilities | None:
    """The probabilities of a decider that was read without complaint; older ones have none."""
    stated = read_json(path).get("probabilities")
    if stated is None:
        return None
    try:
        rows = [
            [_read(stated[side][relation][part]) for part in SIGMOIDS]
            for side in SIDES
            for relation in vocabulary.relations
        ]
        return Probabilities.made(*zip(*rows, strict=True)) if rows else None
    except (KeyError, TypeError, ValueError, OverflowError, DataError) as error:
        raise DataError(f"{path}: not probabilities for this benchmark ({error!r})") from error


def _sigmoids(
    probabilities: Probabilities, vocabulary: Vocabulary
) -> dict[str, dict[str, dict[str, Any]]]:
    columns = (
        probabilities.intercepts,
        probabilities.slopes,
        probabilities.floors,
        probabilities.below,
    )
    rows = zip(*(_written(column.tolist()) for column in columns), strict=True)
    return vocabulary.by_side([dict(zip(SIGMOIDS, row, strict=True)) for row in rows])


def _written(value: Any) -> Any:
    """JSON has no infinity, and nothing that is not a number: they become words."""
    if isinstance(value, dict):
        return {name: _written(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_written(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _understood(value: Any) -> Any:
    """The words as numbers again."""
    if isinstance(value, dict):
        return {name: _understood(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_understood(item) for item in value]
    return float(value) if value in ("inf", "-inf", "nan") else value


def _read(value: object) -> float:
    number = _understood(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or math.isnan(number):
        raise ValueError(f"{value!r} is no threshold")
    return float(number)
