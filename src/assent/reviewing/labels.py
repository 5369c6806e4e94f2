"""What people said about proposals: a SQLite file, one row a decision, never overwritten.

Undoing and changing a label are rows too. A row is on the disk before `add` returns, so that a
process that is killed loses nothing that it had confirmed. Several processes may write at once.

Each row has a digest over what it says and over the digest of the row before it, so that none can
be changed or taken out unseen. How many rows there are, and the digest of the last, also stands in
a file beside (the head), so that the last ones cannot either. The head is written after the rows:
a kill in between leaves it behind them, never ahead. Older files have rows without a digest; those
of the rows that follow are over them, too.
"""

import hashlib
import json
import re
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from assent.core.checking import refuse_unknown
from assent.errors import DataError, PlaceError
from assent.files.atomic import beside
from assent.files.checksums import sealed, unsealed
from assent.files.guarding import MALFORMED
from assent.files.text import is_text, read_json

RIGHT, WRONG, UNKNOWN, SKIP = "right", "wrong", "unknown", "skip"
VERDICTS = (RIGHT, WRONG, UNKNOWN, SKIP)
UNDO = "undo"  # the verdict of a row that takes an earlier one back
CHOSEN = ("drawn", "probable", "teaches", "batch", "planted", "import")  # why it was shown
KEY = re.compile(r"[0-9a-f]{16}")
LONGEST_REVIEWER, LONGEST_NOTE, LONGEST_SHOWN = 80, 2_000, 50_000  # characters
LATEST = 253370764800.0  # the year 9999, in seconds since 1970
AHEAD = 86400.0  # seconds by which the clock of another machine may be ahead of ours
PATIENCE = 30.0  # seconds that a writer waits for another

SCHEMA = """
CREATE TABLE IF NOT EXISTS labels (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    proposal TEXT NOT NULL,
    verdict TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    chosen TEXT NOT NULL,
    note TEXT NOT NULL,
    shown TEXT NOT NULL,
    earlier INTEGER,
    digest TEXT
);
CREATE TRIGGER IF NOT EXISTS never_changed BEFORE UPDATE ON labels
    BEGIN SELECT RAISE(ABORT, 'labels are never changed'); END;
CREATE TRIGGER IF NOT EXISTS never_deleted BEFORE DELETE ON labels
    BEGIN SELECT RAISE(ABORT, 'labels are never deleted'); END;
"""
FIELDS = "id, time, proposal, verdict, reviewer, chosen, note, shown, earlier"
BACK = "put the file back"


class Label(NamedTuple):
    """One row: what a reviewer said about a proposal."""

    id: int
    time: float  # seconds since 1970
    proposal: str  # its key
    verdict: str  # one of VERDICTS, or UNDO
    reviewer: str
    chosen: str  # one of CHOSEN
    note: str
    shown: str  # JSON: what the reviewer saw
    earlier: int | None  # the row that this one undoes or replaces

    @property
    def drawn(self) -> bool:
        """Whether the random design chose the proposal."""
        return self.chosen == "drawn"


class Given(NamedTuple):
    """A label to be added."""

    proposal: str
    verdict: str
    reviewer: str
    chosen: str
    note: str = ""
    shown: Mapping[str, Any] = {}
    earlier: int | None = None
    time: float | None = None  # None: now


class Head(NamedTuple):
    """What stands outside of the file: how many rows it has, and the digest of the last."""

    rows: int
    digest: str  # empty where there is no row


class Disagreement(NamedTuple):
    """A proposal about which reviewers say different things."""

    proposal: str
    verdicts: dict[str, str]  # reviewer -> verdict


class Labels:
    """The labels in one file; made if there is none. All methods may be called by any thread."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.head_path = head_of(self.path)
        self._lock = threading.RLock()
        self._rows: list[Label] = []
        self._digests = [""]  # before the first row, after it, after the second, ...
        self._is_chained = False  # whether the last row has its digest in the file
        self._last = 0, ""  # id and digest of the row that was written last
        self._was_checked = False  # against the head
        self._current: dict[tuple[str, str], Label] | None = None
        try:
            if not self.path.exists():
                self._make()
            self._file = sqlite3.connect(
                self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = FULL")
            columns = [row[1] for row in self._file.execute("PRAGMA table_info(labels)")]
            if not columns:
                raise DataError(f"{self.path}: empty: the labels are gone; {BACK}")
            if "digest" not in columns:
                with suppress(sqlite3.OperationalError):  # another process has just added it
                    self._file.execute("ALTER TABLE labels ADD COLUMN digest TEXT")
            self._file.executescript(SCHEMA)
            self._file.execute(f"SELECT {FIELDS}, digest FROM labels LIMIT 1")
        except (sqlite3.Error, OSError) as error:
            raise DataError(f"{self.path}: no file of labels: {error}") from error

    def _make(self) -> None:
        """A file without a row, which has its name once it is whole: an empty one is a lost one."""
        if self.head_path.exists():
            raise DataError(f"{self.path}: the labels are gone; {BACK}")
        with beside(self.path, own=True) as part, closing(sqlite3.connect(part)) as made:
            made.executescript(SCHEMA)

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(
        self,
        proposal: str,
        verdict: str,
        reviewer: str,
        *,
        chosen: str,
        note: str = "",
        shown: Mapping[str, Any] | None = None,
    ) -> Label:
        """Writes one label."""
        return self.add_all([Given(proposal, verdict, reviewer, chosen, note, shown or {})])[0]

    def add_all(self, given: Iterable[Given]) -> list[Label]:
        """Writes all of these labels, or none."""
        rows = [checked_label(label) for label in given]
        with self._writing():
            return [self._insert(row) for row in rows]

    def change(self, label_id: int, verdict: str, reviewer: str, note: str = "") -> Label:
        """A new row in place of an earlier one of the same reviewer."""
        refuse_unknown(verdict, VERDICTS, "verdict")
        with self._writing():
            old = self._counting(label_id, reviewer)
            row = checked_label(Given(old.proposal, verdict, reviewer, old.chosen, note))
            return self._insert((*row[:-2], old.shown, old.id))

    def undo(self, reviewer: str) -> list[Label]:
        """Takes back the latest decision of a reviewer; returns the labels that no longer count.

        Labels that a batch gave together go together. An empty list: nothing was left to undo.
        """
        with self._writing():
            undone = {row.earlier for row in self._read() if row.verdict == UNDO}
            mine = [
                row
                for row in self._rows
                if row.reviewer == reviewer and row.verdict != UNDO and row.id not in undone
            ]
            if not mine:
                return []
            last = mine[-1]
            together = [row for row in mine if row.chosen == "batch" and row.time == last.time]
            back = together if last.chosen == "batch" else [last]
            for row in back:
                given = Given(row.proposal, UNDO, reviewer, row.chosen, earlier=row.id)
                self._insert(checked_label(given, (UNDO,)))
            return back

    def rows(self) -> list[Label]:
        """All rows, the oldest first."""
        with self._lock:
            return list(self._read())

    def refuse_damaged(self) -> None:
        """Raises an error where the file is damaged, be it by pages, by rows, or by their chain."""
        try:
            with self._lock:
                found = [row[0] for row in self._file.execute("PRAGMA integrity_check(1)")]
        except sqlite3.Error as error:
            raise DataError(f"{self.path}: cannot be read: {error}") from error
        if found != ["ok"]:
            raise DataError(f"{self.path}: damaged ({found[0]}); {BACK}")
        self.rows()

    def current(self) -> list[Label]:
        """The label that counts of each proposal and reviewer, the oldest first."""
        with self._lock:
            return sorted(self._counted().values(), key=lambda row: row.id)

    def recent(self, reviewer: str, most: int = 20) -> list[Label]:
        """The latest labels of a reviewer that count, the newest first."""
        mine = [row for row in self.current() if row.reviewer == reviewer]
        return mine[: -most - 1 : -1]

    def disagreements(self) -> list[Disagreement]:
        """Proposals that reviewers decided about differently; a skip is no decision."""
        said: dict[str, dict[str, str]] = {}
        for row in self.current():
            if row.verdict != SKIP:
                said.setdefault(row.proposal, {})[row.reviewer] = row.verdict
        return [Disagreement(*item) for item in said.items() if len(set(item[1].values())) > 1]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction: what is written within it is on the disk after it, whole or not at all."""
        with self._lock:
            try:
                self._file.execute("BEGIN IMMEDIATE")
                try:
                    self._was_checked = False
                    rows = self._read()
                    self._vouch()  # also for rows of a process that was killed before it could
                    self._last = rows[-1].id if rows else 0, self._digests[-1]
                    yield
                except BaseException:
                    self._file.execute("ROLLBACK")
                    raise
                self._file.execute("COMMIT")
            except sqlite3.Error as error:
                raise DataError(f"{self.path}: cannot be written: {error}") from error
            self._read()
            with suppress(PlaceError):  # the labels are on the disk; the next ones vouch for them
                self._vouch()

    def _insert(self, row: Sequence[Any]) -> Label:
        """Writes a row; it is among `rows` once it is on the disk."""
        number, before = self._last
        label = Label(number + 1, *row)
        self._last = label.id, _digest(before, label)
        self._file.execute(
            f"INSERT INTO labels ({FIELDS}, digest) VALUES (?,?,?,?,?,?,?,?,?,?)",
            (*label, self._last[1]),
        )
        return label

    def _read(self) -> list[Label]:
        """All rows; those that other processes added since are read from the file."""
        head = None if self._was_checked else self._head()  # first: it is never ahead of the rows
        after = self._rows[-1].id if self._rows else 0
        try:
            found = self._file.execute(
                f"SELECT {FIELDS}, digest FROM labels WHERE id > ? ORDER BY id", (after,)
            ).fetchall()
        except sqlite3.Error as error:
            raise DataError(f"{self.path}: cannot be read: {error}") from error
        for *row, said in found:
            label = self._label(row)
            digest = _digest(self._digests[-1], label)
            if said != digest and (said is not None or self._is_chained):
                raise DataError(f"{self.path}: row {label.id} is not as it was written; {BACK}")
            self._is_chained = said is not None
            self._rows.append(label)
            self._digests.append(digest)
            self._current = None
        if not self._was_checked:
            self._check(head or self._head())
            self._was_checked = True
        return self._rows

    def _head(self) -> Head | None:
        """How many rows there were, and the digest of the last; None: no head was written yet."""
        if not self.head_path.exists():
            return None
        try:
            document = unsealed(read_json(self.head_path), self.head_path)
            return Head(int(document["rows"]), str(document["digest"]))
        except (*MALFORMED, DataError) as error:
            raise DataError(f"{self.head_path}: not as assent wrote it; {BACK}") from error

    def _check(self, head: Head | None) -> None:
        """Raises an error if rows are gone, or are not those that the head is about."""
        if head is None:
            if self._is_chained:
                raise DataError(
                    f"{self.head_path}: is gone, which says how many labels there were; {BACK}"
                )
            return
        if head.rows > len(self._rows):
            raise DataError(
                f"{self.path}: has {len(self._rows):,} rows of labels, and had {head.rows:,}: "
                f"labels are gone; {BACK}"
            )
        if head.rows < 0 or head.digest != self._digests[head.rows]:
            raise DataError(f"{self.path}: not the labels of {self.head_path.name}; {BACK}")

    def _vouch(self) -> None:
        """Brings the head up to the rows that are on the disk."""
        now = Head(len(self._rows), self._digests[-1])
        if self._head() != now:
            with beside(self.head_path, own=True) as part:
                part.write_text(json.dumps(sealed(now._asdict())) + "\n", encoding="utf-8")

    def _label(self, row: Sequence[Any]) -> Label:
        """A row of the file, which anyone may have changed or damaged."""
        label = Label(*row)
        if (
            not isinstance(label.time, float)
            or not 0 <= label.time < LATEST
            or not all(isinstance(value, str) for value in row[2:-1])
            or label.verdict not in (*VERDICTS, UNDO)
            or label.chosen not in CHOSEN
        ):
            raise DataError(f"{self.path}: row {label.id} is no label; {BACK}")
        return label

    def _counted(self) -> dict[tuple[str, str], Label]:
        """Of each proposal and reviewer the latest row by time, if not undone or replaced.

        A row that was imported may be older than one that was there; and clocks may go back.
        """
        rows = self._read()
        if self._current is None:
            undone = {row.earlier for row in rows if row.verdict == UNDO}
            said = [row for row in rows if row.verdict != UNDO and row.id not in undone]
            replaced = {row.earlier for row in said}
            self._current = {
                (row.proposal, row.reviewer): row
                for row in sorted(said, key=lambda row: (row.time, row.id))
                if row.id not in replaced
            }
        return self._current

    def _counting(self, label_id: int, reviewer: str) -> Label:
        for row in self._counted().values():
            if row.id == label_id and row.reviewer == reviewer:
                return row
        raise DataError(f"label {label_id}: not one of {reviewer}'s that counts")


def head_of(path: Path) -> Path:
    """Where the head of a file of labels stands: labels.sqlite -> labels.json."""
    return path.with_suffix(".json")


def _digest(before: str, label: Label) -> str:
    """Of a row that follows one with the digest `before`."""
    return hashlib.sha256(json.dumps([before, *label]).encode()).hexdigest()


def checked_label(given: Given, verdicts: Sequence[str] = VERDICTS) -> tuple[Any, ...]:
    """The fields of a row but its id; refuses what is too long or no text."""
    refuse_unknown(given.verdict, verdicts, "verdict")
    refuse_unknown(given.chosen, CHOSEN, "chosen")
    if not isinstance(given.proposal, str) or not KEY.fullmatch(given.proposal):
        raise DataError("proposal: expected its key, 16 hexadecimal digits")
    for name, text, longest in (
        ("reviewer", given.reviewer, LONGEST_REVIEWER),
        ("note", given.note, LONGEST_NOTE),
    ):
        if not is_text(text) or len(text) > longest:
            raise DataError(f"{name}: expected text of at most {longest:,} characters")
    if not given.reviewer.strip() or not given.reviewer.isprintable():
        raise DataError("reviewer: expected a name, without control characters")
    shown = json.dumps(dict(given.shown), ensure_ascii=False, sort_keys=True)
    if len(shown) > LONGEST_SHOWN:
        raise DataError(f"shown: expected at most {LONGEST_SHOWN:,} characters of JSON")
    note = " ".join(given.note.replace("\x00", " ").split())  # one line, so that it can be exported
    now = round(float(time.time() if given.time is None else given.time), 6)  # as files have it
    if not 0 <= now < LATEST:
        raise DataError("time: expected a moment between the years 1970 and 9999")
    if now > time.time() + AHEAD:  # it would count before all that is said until then
        raise DataError("time: is still to come; expected a moment that has been")
    return (
        now,
        given.proposal,
        given.verdict,
        given.reviewer,
        given.chosen,
        note,
        shown,
        given.earlier,
    )
