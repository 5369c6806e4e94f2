"""Labels as a file: tab-separated with a header, to look at, to merge, and to read back."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from assent.core.checking import refuse_unknown
from assent.errors import AssentError, DataError
from assent.files.atomic import beside
from assent.files.text import lines_of
from assent.reviewing.labels import CHOSEN, VERDICTS, Given, Labels
from assent.reviewing.proposals import Proposals, key_of

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
    strange: int  # about facts that are no proposals here


def export_labels(path: str | Path, labels: Labels, proposals: Proposals) -> int:
    """Writes the labels that count, the oldest first; returns how many."""
    lines = ["\t".join(COLUMNS)]
    for label in labels.current():
        facts, place = proposals.found(label.proposal)
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
            proposals.digest[:16],
            label.note,
        )
        lines.append("\t".join(fields))
    with beside(Path(path)) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(lines) - 1


def import_labels(path: str | Path, labels: Labels, proposals: Proposals) -> Imported:
    """Adds the labels of a file to those that are there, all or none.

    Those that another design drew, or no design, do not count towards a promise here.
    """
    there = {(row.proposal, row.reviewer, row.time) for row in labels.rows()}
    given, known, strange = list[Given](), 0, 0
    for number, line in enumerate(lines_of(Path(path)), 1):
        fields = line.split("\t")
        if number == 1:
            if tuple(fields) != COLUMNS:
                raise DataError(f"{path}:1: expected the columns {', '.join(COLUMNS)}")
            continue
        try:
            label = _read(fields, proposals)
        except (ValueError, AssentError) as error:
            raise DataError(f"{path}:{number}: {error}") from error
        if (
            label.proposal not in proposals.places
            and label.proposal not in proposals.planted_places
        ):
            strange += 1
        elif (label.proposal, label.reviewer, label.time) in there:
            known += 1
        else:
            given.append(label)
    return Imported(len(labels.add_all(given)), known, strange)


def _read(fields: list[str], proposals: Proposals) -> Given:
    if len(fields) != len(COLUMNS):
        raise ValueError(f"expected {len(COLUMNS)} tab-separated columns, found {len(fields)}")
    row: Mapping[str, str] = dict(zip(COLUMNS, fields, strict=True))
    refuse_unknown(row["chosen"], CHOSEN, "chosen")
    refuse_unknown(row["verdict"], VERDICTS, "verdict")
    key = key_of(row["head"], row["relation"], row["tail"])
    chosen = row["chosen"]
    if chosen == "drawn" and row["design"] != proposals.digest[:16]:
        chosen = "import"
    time = round(datetime.fromisoformat(row["time"]).timestamp(), 6)
    return Given(key, row["verdict"], row["reviewer"], chosen, row["note"], {}, None, time)
