"""Labels as a file: tab-separated with a header, to look at, to merge, and to read back."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from assent.core.checking import refuse_unknown
from assent.errors import AssentError, DataError
from assent.files.atomic import beside
from assent.files.text import lines_of
from assent.reviewing.labels import CHOSEN, UNDO, VERDICTS, Given, Label, checked_label
from assent.reviewing.proposals import Proposals, key_of
from assent.reviewing.session import Review

Identity = tuple[str, str, float]  # of a label: proposal, reviewer, time

COLUMNS = (
    "head",
    "relation",
    "tail",
    "verdict",
    "reviewer",
    "time",
    "chosen",
    "design",
    "note",
)


class Imported(NamedTuple):
    """What became of the labels of a file."""

    added: int
    there: int  # already
    twice: int  # in the file; counted beyond the first
    strange: int  # about facts that are no proposals here


def export_labels(path: str | Path, review: Review) -> int:
    """Writes the labels that count, the oldest first; returns how many."""
    lines = ["\t".join(COLUMNS)]
    for label in review.labels.current():
        facts, place = review.proposals.found(label.proposal)
        names = facts.vocabulary
        head, relation, tail = facts.facts[place].tolist()
        fields = (
            names.entities[head],
            names.relations[relation],
            names.entities[tail],
            label.verdict,
            label.reviewer,
            datetime.fromtimestamp(label.time, UTC).isoformat(),
            label.chosen,
            review.proposals.digest[:16],
            label.note,
        )
        lines.append("\t".join(fields))
    with beside(Path(path)) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(lines) - 1


def import_labels(path: str | Path, review: Review) -> Imported:
    """Adds the labels of a file to those that are there, all or none.

    A label is the same as another if fact, reviewer and time are. Those that another design drew,
    or no design, do not count towards a promise here.
    """
    lines = enumerate(lines_of(Path(path)), 1)
    _refuse_header(path, next(lines, (1, ""))[1].split("\t"))
    names, proposals = review.benchmark.vocabulary, review.proposals
    entities, ours = {*names.entities}, {*proposals.places, *proposals.planted_places}
    known = {"head": entities, "relation": {*names.relations}, "tail": entities}
    there = {_identity(row): row.verdict for row in review.labels.rows() if row.verdict != UNDO}
    mine: dict[Identity, tuple[Given, int]] = {}  # by what identifies it: the label and its line
    known_here = twice = strange = 0
    for number, line in lines:
        if not line.strip():
            continue
        try:
            label = _read(line.split("\t"), proposals, known)
            checked_label(label)
            this = _identity(label)
            if there.get(this, label.verdict) != label.verdict:
                raise ValueError(
                    f"{label.reviewer} said {there[this]!r} about this fact at this time, not "
                    f"{label.verdict!r}; to change it, give the line a later time"
                )
            earlier, its_line = mine.setdefault(this, (label, number))
            if earlier.verdict != label.verdict:
                raise ValueError(
                    f"{label.verdict!r}, but line {its_line} says {earlier.verdict!r}, of the same "
                    "fact, reviewer and time; remove one of them"
                )
        except (ValueError, AssentError) as error:
            raise DataError(f"{path}:{number}: {error}; nothing was imported") from error
        if its_line != number:
            twice += 1
        elif this in there:
            known_here += 1
        elif label.proposal not in ours:
            strange += 1
    given = [one for this, (one, _) in mine.items() if this not in there and one.proposal in ours]
    return Imported(len(review.labels.add_all(given)), known_here, twice, strange)


def _refuse_header(path: str | Path, found: list[str]) -> None:
    """Raises an error if the first line of a file does not name the columns."""
    if tuple(found) == COLUMNS:
        return
    missing = [name for name in COLUMNS if name not in found]
    wrong = f"{', '.join(missing)}: not there" if missing else "the columns stand in another order"
    raise DataError(
        f"{path}:1: {wrong}; expected a line with {', '.join(COLUMNS)}, separated by tabs"
    )


def _identity(label: Label | Given) -> Identity:
    return label.proposal, label.reviewer, label.time or 0.0


def _read(fields: list[str], proposals: Proposals, known: Mapping[str, set[str]]) -> Given:
    if len(fields) != len(COLUMNS):
        raise ValueError(f"expected {len(COLUMNS)} tab-separated columns, found {len(fields)}")
    row: Mapping[str, str] = dict(zip(COLUMNS, fields, strict=True))
    refuse_unknown(row["chosen"], CHOSEN, "chosen")
    refuse_unknown(row["verdict"], VERDICTS, "verdict")
    for column, right in known.items():
        if row[column] not in right:
            raise ValueError(f"the graph has no {column} {row[column]!r}; mend or remove the line")
    chosen = row["chosen"]
    if chosen == "drawn" and row["design"] != proposals.digest[:16]:
        chosen = "import"
    try:
        time = round(datetime.fromisoformat(row["time"]).timestamp(), 6)
    except (ValueError, OverflowError, OSError) as error:
        example = "2026-01-31T12:00:00+00:00"
        raise ValueError(f"time {row['time']!r}; expected one such as {example}") from error
    key = key_of(row["head"], row["relation"], row["tail"])
    return Given(key, row["verdict"], row["reviewer"], chosen, row["note"], {}, None, time)
