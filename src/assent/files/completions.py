"""What `complete` leaves in a run's folder: its facts, and what may be expected of them."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from assent.core.legible import in_words
from assent.core.new_facts import NewFacts
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.atomic import beside
from assent.files.checksums import SEAL, check_file, digest, sealed, unsealed
from assent.files.fact_lines import read_facts
from assent.files.facts import write_facts
from assent.files.places import COMPLETION, FACTS
from assent.files.text import read_json

FORMAT = 1


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
    lines: tuple[str, ...]  # as `assent complete` printed them
    assumption: str  # what an estimate rests on; empty without one
    relations: tuple[OfRelation, ...]


def write_completion(folder: Path, kept: Kept, facts: NewFacts, files: Iterable[Path] = ()) -> None:
    """Puts facts, and then what may be expected of them, into the folder of a run.

    `files` are where the facts went, elsewhere: their checksums are kept by their names.
    """
    (folder / COMPLETION).unlink(missing_ok=True)
    with beside(folder / FACTS, own=True) as part:
        write_facts(part, facts)
    document = {
        "format": FORMAT,
        "facts": digest(folder / FACTS),
        "files": {file.name: digest(file) for file in files},
        **{name: _plain(value) for name, value in kept._asdict().items()},
        "lines": list(kept.lines),
        "relations": [
            {name: _plain(value) for name, value in relation._asdict().items()}
            for relation in kept.relations
        ],
    }
    _write(folder / COMPLETION, document)


def renew_completion(folder: Path) -> None:
    """Takes the facts of a folder, and what is said of them, as they are now."""
    document = read_json(path := folder / COMPLETION)
    rest = {name: value for name, value in document.items() if name != SEAL}
    _write(path, {**rest, "facts": digest(folder / FACTS)})


def written_as(folder: Path, name: str) -> str | None:
    """The checksum of a file that the newest completion of a folder wrote elsewhere, if known."""
    if not (path := folder / COMPLETION).is_file():
        return None
    document = unsealed(read_json(path), path)
    files = document.get("files") if isinstance(document, dict) else None
    return str(files[name]) if isinstance(files, dict) and name in files else None


def read_completion(
    folder: Path, labels: Iterable[Vocabulary] = (), *, renewing: bool = False
) -> tuple[Kept, NewFacts] | None:
    """What `write_completion` wrote; None where no completion ended in this folder.

    `renewing` asks only whether it can be read, not whether it is as assent wrote it.
    """
    if not (path := folder / COMPLETION).exists():
        return None
    document = read_json(path)
    kept = _kept(path, document)
    if not renewing:
        unsealed(document, path)
    facts = read_facts(folder / FACTS, labels)
    if "facts" in document and not renewing:  # older ones have no checksum of theirs
        check_file(folder / FACTS, (str(document["facts"]),))
    return kept, facts


def _write(path: Path, document: dict[str, Any]) -> None:
    with beside(path, own=True) as part:
        text = json.dumps(sealed(document), indent=1, ensure_ascii=False, allow_nan=False)
        part.write_text(text + "\n", encoding="utf-8")


def _kept(path: Path, document: Any) -> Kept:
    """What a document says, which is hostile until parsed."""
    try:
        if document["format"] != FORMAT:
            raise ValueError(f"format {document['format']!r}; expected {FORMAT}")
        return Kept(
            str(document["model"]),
            str(document["decided"]),
            _number(document["precision"]),
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
        raise DataError(f"{path}: no record of a completion ({in_words(error)})") from error


def _plain(value: Any) -> Any:
    """JSON has no nan and no infinity: null stands for a number that is not known."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no number")
    return float(value)
