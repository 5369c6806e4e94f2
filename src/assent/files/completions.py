"""What `complete` leaves in a run's folder: its facts, and what may be expected of them."""

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from assent.core.considered import Considered
from assent.core.legible import in_words
from assent.core.new_facts import NewFacts
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.atomic import Beside, Together, alone, beside
from assent.files.checksums import SEAL, check_file, digest, sealed, unsealed
from assent.files.considered import Record, read_record, write_considered
from assent.files.fact_lines import read_facts
from assent.files.facts import write_facts
from assent.files.guarding import MALFORMED
from assent.files.places import COMPLETION, CONSIDERED, FACTS
from assent.files.text import read_json

FORMAT = 1
# What decided about the facts. Where a rehearsal did, what `ask` answers by is kept.
REHEARSAL, REVIEW, PROMISE, DECIDER = "rehearsal", "review", "promise", "decider"
UNTOLD = "untold"  # older records do not say what was kept beside them
LOCK = ".completion.lock"  # there while a command replaces a completion


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
    decided: str  # by what: REHEARSAL, REVIEW, PROMISE or DECIDER
    precision: float  # wanted; nan: none was
    lines: tuple[str, ...]  # as `assent complete` printed them
    assumption: str  # what an estimate rests on; empty without one
    relations: tuple[OfRelation, ...]
    considered: str | None = None  # the checksum of what it decided by; None: nothing was kept


def write_completion(
    folder: Path,
    kept: Kept,
    facts: NewFacts,
    considered: Considered | None = None,
    *,
    files: Together,
) -> None:
    """Puts facts, what decided about them, and what may be expected, into the folder of a run.

    They get their names with the `files` that the facts went to, elsewhere: the checksums of these
    are kept by their places. All that the completion before it left is taken away just before. The
    record, which vouches for the rest, is the first to go and the last to come: a kill in between
    leaves none.
    """
    elsewhere = {place_from(folder, path): checksum for path, checksum in files.sums().items()}
    files.held.enter_context(alone(folder / LOCK))
    files.going += [folder / name for name in (COMPLETION, CONSIDERED)]
    with files.beside(folder / FACTS, own=True) as part:
        write_facts(part, facts)
        checksum = digest(part)
    if considered is not None:
        seal = write_considered(folder, considered, kept.model, beside=files.beside)
        kept = kept._replace(considered=seal)
    document = {
        "format": FORMAT,
        "facts": checksum,
        "files": elsewhere,
        **{name: _plain(value) for name, value in kept._asdict().items()},
        "lines": list(kept.lines),
        "relations": [
            {name: _plain(value) for name, value in relation._asdict().items()}
            for relation in kept.relations
        ],
    }
    _write(folder / COMPLETION, document, files.beside)


def keep_asked(folder: Path, found: Considered, model: str) -> None:
    """Keeps what `ask` found for itself, unless a completion keeps the like there."""
    with alone(folder / LOCK):
        kept, record = read_kept(folder), read_record(folder)
        if kept is None or record is None or kept.considered != record.seal:
            write_considered(folder, found, model, asked=True)


def considered_by(
    folder: Path, names: list[Vocabulary], model: str
) -> tuple[Considered | None, str]:
    """What the newest completion of a run decided by; if that is not there, why, in words.

    There is nothing to say where no completion was kept, or none that a rehearsal decided. A file
    of another completion is refused.
    """
    if (kept := read_kept(folder)) is None:
        return None, ""
    record = own_record(folder, kept)
    if kept.model != model:
        return None, "the newest completion is of another model than the run has now"
    if kept.decided != REHEARSAL:
        return None, ""
    if kept.considered is None:
        return None, f"the newest completion left no {CONSIDERED} to answer by"
    if record is None:
        return None, f"{CONSIDERED} is gone, by which the newest completion decided"
    return record.fitting(names), ""


def own_record(folder: Path, kept: Kept) -> Record | None:
    """What a completion decided by; None: it is not there. That of another one is refused."""
    record = read_record(folder)
    if record is None or record.asked:
        return None
    if kept.considered == UNTOLD:
        if kept.decided != REHEARSAL:  # then `ask` may have kept it, or an older completion
            return None
        fits = (record.model, record.precision) == (kept.model, kept.precision)
    else:
        fits = record.seal == kept.considered
    if not fits:
        raise DataError(
            f"{record.path}: of another completion than that of {COMPLETION}; put back the one "
            "that was there, or remove it"
        )
    return record


def renew_completion(folder: Path) -> None:
    """Takes the facts of a folder, and what is said of them, as they are now."""
    document = read_json(path := folder / COMPLETION)
    rest = {name: value for name, value in document.items() if name != SEAL}
    record = read_record(folder)
    seal = None if record is None or record.asked else record.seal
    told = {"considered": seal} if document.get("considered") else {}
    _write(path, {**rest, "facts": digest(folder / FACTS), **told})


def place_from(folder: Path, path: Path) -> str:
    """Where a file is, from the folder of a run: `../new.tsv`, or `./new.tsv` within it."""
    place = os.path.relpath(path.resolve(), folder.resolve())
    return place if os.sep in place else f"{os.curdir}{os.sep}{place}"


def written_by(folder: Path) -> dict[str, str]:
    """The checksums of files that the newest completion of a folder wrote elsewhere.

    By their places, or, in older records, by their names alone.
    """
    if not (path := folder / COMPLETION).is_file():
        return {}
    document = unsealed(read_json(path), path)
    files = document.get("files") if isinstance(document, dict) else None
    return {str(k): str(v) for k, v in files.items()} if isinstance(files, dict) else {}


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
    if not renewing:
        _check_facts(folder, document)
    return kept, facts


def read_kept(folder: Path) -> Kept | None:
    """A completion without its facts, which are checked all the same; None: none ended here."""
    if not (path := folder / COMPLETION).exists():
        return None
    document = read_json(path)
    kept = _kept(path, document)
    unsealed(document, path)
    _check_facts(folder, document)
    return kept


def _check_facts(folder: Path, document: dict[str, Any]) -> None:
    if "facts" in document:  # older ones have no checksum of theirs
        check_file(folder / FACTS, (str(document["facts"]),))


def _write(path: Path, document: dict[str, Any], beside: Beside = beside) -> None:
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
            None if (seal := document.get("considered", UNTOLD)) is None else str(seal),
        )
    except MALFORMED as error:
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
