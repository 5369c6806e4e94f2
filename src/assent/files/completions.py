"""What `complete` leaves in a run's folder: its facts, and what may be expected of them."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from assent.core.new_facts import NewFacts
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.atomic import beside
from assent.files.checksums import check_file, digest, sealed, unsealed
from assent.files.facts import read_facts, write_facts
from assent.files.text import read_json

FORMAT = 1
COMPLETION, FACTS = "completion.json", "facts.jsonl"


class OfRelation(NamedTuple):
    """What completing came to for one relation."""

    relation: str
    accepted: int
    review: int
    expected: float  # the share of its accepted facts that is right, by estimate; nan: no estimate
    held_out: int
    found: int  # of those held out, accepted in the rehearsal


class Kept(NamedTuple):
    """A completion without its facts: which model made them, and what may be expected of them."""

    model: str  # the checksum of the model that was asked
    decided: str  # by what: `rehearsal`, `review`, `promise` or `decider`
    precision: float  # wanted; nan: none was
    threshold: float  # facts more probable than this were accepted; nan: no such number
    lines: tuple[str, ...]  # as `assent complete` printed them
    assumption: str  # what an estimate rests on; empty without one
    relations: tuple[OfRelation, ...]


def write_completion(folder: Path, kept: Kept, facts: NewFacts) -> None:
    """Puts facts, and then what may be expected of them, into the folder of a run."""
    (folder / COMPLETION).unlink(missing_ok=True)
    write_facts(folder / FACTS, facts)
    document = {
        "format": FORMAT,
        "facts": digest(folder / FACTS),
        **{name: _plain(value) for name, value in kept._asdict().items()},
        "lines": list(kept.lines),
        "relations": [
            {name: _plain(value) for name, value in relation._asdict().items()}
            for relation in kept.relations
        ],
    }
    with beside(folder / COMPLETION) as part:
        text = json.dumps(sealed(document), indent=1, ensure_ascii=False, allow_nan=False)
        part.write_text(text + "\n", encoding="utf-8")


def read_completion(
    folder: Path, labels: Iterable[Vocabulary] = ()
) -> tuple[Kept, NewFacts] | None:
    """What `write_completion` wrote; None where no completion ended in this folder."""
    if not (path := folder / COMPLETION).exists():
        return None
    document = read_json(path)
    try:
        if document["format"] != FORMAT:
            raise ValueError(f"format {document['format']!r}; expected {FORMAT}")
        kept = Kept(
            str(document["model"]),
            str(document["decided"]),
            _number(document["precision"]),
            _number(document["threshold"]),
            tuple(map(str, document["lines"])),
            str(document["assumption"]),
            tuple(
                OfRelation(
                    str(given["relation"]),
                    int(given["accepted"]),
                    int(given["review"]),
                    _number(given["expected"]),
                    int(given["held_out"]),
                    int(given["found"]),
                )
                for given in document["relations"]
            ),
        )
    except (
        KeyError,
        TypeError,
        ValueError,
        OverflowError,
        AttributeError,
        RecursionError,
    ) as error:
        raise DataError(f"{path}: no record of a completion ({error!r})") from error
    unsealed(document, path)
    facts = read_facts(folder / FACTS, labels)
    if "facts" in document:  # older ones have no checksum of theirs
        check_file(folder / FACTS, (str(document["facts"]),))
    return kept, facts


def _plain(value: Any) -> Any:
    """JSON has no nan and no infinity: null stands for a number that is not known."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no number")
    return float(value)
