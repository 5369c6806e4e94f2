"""Deciders on disk: decider.json, which people can read, and a judge's trees as arrays beside it.

The format today is 2. Format 1 is still read; it had a judge's floors under "thresholds", its
thresholds, as probabilities, under "cuts", and the expected precision in what was found.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import frozen
from assent.core.decider import Decider, Rescorer
from assent.core.legible import in_words
from assent.core.probabilities import Probabilities
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import SIDES, Vocabulary
from assent.errors import DataError
from assent.files.arrays import arrays_in
from assent.files.atomic import beside
from assent.files.checksums import sealed, unsealed
from assent.files.guarding import MALFORMED, parsing, refuse_special
from assent.files.places import DECIDER
from assent.files.text import read_json

FORMAT = 2
JUDGE = "judge"  # the rule that has trees
LOOKED_AT = 200  # bytes of a file that may be a decider
SIGMOIDS = ("intercept", "slope", "floor", "below")

# what reading JSON that says something else may raise

Arrays = Mapping[str, NDArray[Any]]
# what decider.json states of a judge, and its arrays -> the judge, bound to its models
Restore = Callable[[Mapping[str, Any], Arrays], Rescorer]


def decider_file(path: Path) -> Path:
    """The file itself, or that of a run folder."""
    return path / DECIDER if path.is_dir() else path


def is_own(path: Path) -> bool:
    """Whether a file has the name that the decider of a run has."""
    return path.name == DECIDER


def is_decider(path: Path) -> bool:
    """Whether a file looks like a decider, whole or damaged."""
    with path.open("rb") as file:
        return b'"rule"' in file.read(LOOKED_AT)


def write_decider(path: Path, decider: Decider, vocabulary: Vocabulary) -> None:
    """Writes decider.json, and the arrays of a judge before it."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "rule": decider.rule,
        "objective": decider.objective,
        "found": _written(dict(decider.found)),
        "floors": _by_slot(decider.floors.values, vocabulary),
        "thresholds": _by_slot(decider.thresholds.values, vocabulary),
        "expected_precision": vocabulary.by_side(
            [None if math.isnan(value) else value for value in decider.expected_precision.tolist()]
        ),
    }
    if decider.probabilities is not None:
        document["probabilities"] = _sigmoids(decider.probabilities, vocabulary)
    if decider.rescorer is not None:
        data = _packed(decider.rescorer.arrays())
        checksum = hashlib.sha256(data).hexdigest()
        document["judge"] = {**decider.rescorer.stated(), "trees": checksum}
        with beside(path.with_suffix(".npz"), own=is_own(path)) as part:
            part.write_bytes(data)
    with beside(path, own=is_own(path)) as part:
        text = json.dumps(sealed(document), indent=1, allow_nan=False)
        part.write_text(text + "\n", encoding="utf-8")


def read_decider(
    path: Path, vocabulary: Vocabulary, restore: Restore, renewing: bool = False
) -> Decider:
    """The decider of a file; `restore` makes the rescorer of a judge again.

    `renewing` asks only whether it can be one, not whether it is as assent wrote it.
    """
    if not path.exists():
        run = path.parent if path.name == DECIDER else "RUN"
        raise DataError(f"{path}: no thresholds yet; `assent tune {run}` finds them")
    written = read_json(path)
    try:
        document = _upgraded(written, path)
        if (document["rule"] == JUDGE) != (document.get("judge") is not None):
            raise ValueError(f"rule {document['rule']!r} does not go with what decides")
        floors, thresholds = (
            _values(document[name], vocabulary) for name in ("floors", "thresholds")
        )
        expected = _values(document["expected_precision"], vocabulary, unknown=math.nan)
        probabilities = _probabilities(path, document.get("probabilities"), vocabulary)
        rescorer = None
        if (stated := document.get("judge")) is not None:
            rescorer = restore(stated, _read_arrays(path.with_suffix(".npz"), stated["trees"]))
        decider = Decider(
            str(document["rule"]),
            str(document["objective"]),
            Thresholds.of(floors),
            Thresholds.of(thresholds),
            frozen(expected, np.float64),
            probabilities,
            rescorer,
            _understood(dict(document["found"])),
        )
        if not renewing:  # last: what is wrong with it is better said by what is above
            unsealed(written, path)
        return decider
    except MALFORMED as error:
        raise DataError(f"{path}: not a decider for this benchmark ({in_words(error)})") from error


def _upgraded(document: dict[str, Any], path: Path) -> dict[str, Any]:
    """A document of format 1 as one of format 2."""
    if document["format"] == FORMAT:
        return document
    if document["format"] != 1:
        raise DataError(f"{path}: format {document['format']!r}; expected {FORMAT} or 1")
    found = dict(document["found"])
    thresholds, judge = document["thresholds"], document.get("judge")
    promise = dict(found.get("promise", {}))
    nothing = {side: dict.fromkeys(thresholds[side]) for side in SIDES}
    expected = promise.pop("expected_precision", nothing)
    if judge is not None:
        found = {"features": len(judge["features"]), "models": len(judge["runs"]), **found}
    return {
        **document,
        "floors": thresholds,
        "thresholds": thresholds if judge is None else _logits(judge["cuts"]),
        "expected_precision": expected,
        "found": {**found, "promise": promise} if promise else found,
    }


def _logits(cuts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Thresholds of probabilities, by side and relation, as thresholds of logits."""

    def logit(stated: Any) -> Any:
        share = _number(stated)
        if share >= 1 or share <= 0:
            return math.inf if share >= 1 else -math.inf
        return math.log(share) - math.log1p(-share)

    return {side: {name: logit(cut) for name, cut in mine.items()} for side, mine in cuts.items()}


def _by_slot(values: NDArray[np.float64], vocabulary: Vocabulary) -> dict[str, Any]:
    """By side and relation, as JSON can have them."""
    return vocabulary.by_side(_written(values.tolist()))


def _values(
    stated: Any, vocabulary: Vocabulary, unknown: float | None = None
) -> list[float]:  # (slot,)
    """The number of each slot, by side and relation; hostile until parsed.

    Where `unknown` is given, null stands for it.
    """
    names = set(vocabulary.relations)
    for side in SIDES:
        for name in stated[side]:
            if name not in names:
                raise ValueError(f"a number for {name!r}, unknown to the benchmark")
    given = [stated[side][name] for side in SIDES for name in vocabulary.relations]
    return [unknown if unknown is not None and value is None else _number(value) for value in given]


def _sigmoids(probabilities: Probabilities, vocabulary: Vocabulary) -> dict[str, Any]:
    columns = (
        probabilities.intercepts,
        probabilities.slopes,
        probabilities.floors,
        probabilities.below,
    )
    rows = zip(*(_written(column.tolist()) for column in columns), strict=True)
    return vocabulary.by_side([dict(zip(SIGMOIDS, row, strict=True)) for row in rows])


def _probabilities(path: Path, stated: Any, vocabulary: Vocabulary) -> Probabilities | None:
    """What `_sigmoids` wrote; None where the rule has no probabilities."""
    if stated is None or not vocabulary.relations:
        return None
    try:
        rows = [
            [_number(stated[side][relation][part]) for part in SIGMOIDS]
            for side in SIDES
            for relation in vocabulary.relations
        ]
        return Probabilities.made(*zip(*rows, strict=True))
    except (KeyError, TypeError, ValueError, OverflowError, DataError) as error:
        raise DataError(
            f"{path}: not probabilities for this benchmark ({in_words(error)})"
        ) from error


def _packed(arrays: Arrays) -> bytes:
    file = BytesIO()
    np.savez_compressed(file, allow_pickle=False, **dict(arrays))
    return file.getvalue()


def _read_arrays(path: Path, checksum: object) -> Arrays:
    refuse_special(path)
    with parsing(path, "the trees of a judge"):
        data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != checksum:
        raise DataError(f"{path}: not the trees that decider.json was written with")
    with parsing(path, "a file of trees"):
        return arrays_in(data)


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


def _number(value: object) -> float:
    number = _understood(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or math.isnan(number):
        raise ValueError(f"{value!r} is not a number")
    return float(number)
