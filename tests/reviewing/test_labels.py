"""Labels: one row a decision, never lost, never overwritten, whoever writes and whatever fails."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from assent.errors import AssentError, DataError, PlaceError
from assent.reviewing.labels import (
    LONGEST_NOTE,
    LONGEST_REVIEWER,
    LONGEST_SHOWN,
    Given,
    Labels,
    head_of,
)

A, B, C = "a" * 16, "b" * 16, "c" * 16

WRITER = """
import sys
from assent.reviewing.labels import Labels
path, reviewer = sys.argv[1:3]
labels = Labels(path)
for number in range(int(sys.argv[3])):
    label = labels.add(f"{number:016x}", "right", reviewer, chosen="drawn")
    print(label.id, label.proposal, flush=True)
"""


@pytest.fixture
def labels(tmp_path):
    with Labels(tmp_path / "labels.sqlite") as made:
        yield made


def verdicts(labels):
    return {(row.proposal, row.reviewer): row.verdict for row in labels.current()}


def test_the_latest_label_of_a_reviewer_counts_and_all_rows_stay(labels):
    labels.add(A, "right", "ann", chosen="drawn", note="sure", shown={"probability": 0.5})
    labels.add(A, "wrong", "ann", chosen="drawn")
    labels.add(A, "unknown", "ben", chosen="probable")
    assert verdicts(labels) == {(A, "ann"): "wrong", (A, "ben"): "unknown"}
    assert [row.verdict for row in labels.rows()] == ["right", "wrong", "unknown"]
    assert labels.rows()[0].shown == '{"probability": 0.5}' and labels.rows()[0].note == "sure"


def test_an_undo_is_a_row_and_brings_back_what_was_said_before(labels):
    labels.add(A, "right", "ann", chosen="drawn")
    labels.add(A, "wrong", "ann", chosen="drawn")
    assert [row.verdict for row in labels.undo("ann")] == ["wrong"]
    assert verdicts(labels) == {(A, "ann"): "right"}
    labels.undo("ann")
    assert not labels.current() and labels.undo("ann") == [] and len(labels.rows()) == 4


def test_undo_touches_nobody_else(labels):
    labels.add(A, "right", "ann", chosen="drawn")
    labels.add(B, "right", "ben", chosen="drawn")
    labels.undo("ann")
    assert verdicts(labels) == {(B, "ben"): "right"}


def test_a_batch_is_undone_as_one(labels):
    labels.add(C, "wrong", "ann", chosen="drawn")
    labels.add_all([Given(key, "right", "ann", "batch", time=5.0) for key in (A, B)])
    assert {row.proposal for row in labels.undo("ann")} == {A, B}
    assert verdicts(labels) == {(C, "ann"): "wrong"}


def test_a_change_replaces_a_label_and_keeps_how_it_was_chosen(labels):
    first = labels.add(A, "right", "ann", chosen="drawn", shown={"probability": 0.4})
    second = labels.change(first.id, "wrong", "ann", "looked again")
    assert second.earlier == first.id and second.drawn and second.shown == first.shown
    assert verdicts(labels) == {(A, "ann"): "wrong"}
    labels.undo("ann")
    assert verdicts(labels) == {(A, "ann"): "right"}


def test_only_an_own_label_that_counts_can_be_changed(labels):
    first = labels.add(A, "right", "ann", chosen="drawn")
    for number, reviewer in ((first.id, "ben"), (99, "ann")):
        with pytest.raises(DataError):
            labels.change(number, "wrong", reviewer)
    assert len(labels.rows()) == 1


def test_disagreements_are_between_decisions_not_skips(labels):
    labels.add(A, "right", "ann", chosen="drawn")
    labels.add(A, "skip", "ben", chosen="drawn")
    assert not labels.disagreements()
    labels.add(A, "wrong", "cid", chosen="drawn")
    assert [found.verdicts for found in labels.disagreements()] == [
        {"ann": "right", "cid": "wrong"}
    ]


def test_the_file_itself_refuses_to_change_or_delete_a_row(labels):
    labels.add(A, "right", "ann", chosen="drawn")
    other = sqlite3.connect(labels.path)
    for statement in ("UPDATE labels SET verdict = 'wrong'", "DELETE FROM labels"):
        with pytest.raises(sqlite3.IntegrityError):
            other.execute(statement)
    other.close()


@pytest.mark.parametrize(
    "given",
    [
        {"verdict": "maybe"},
        {"verdict": "undo"},
        {"chosen": "by hand"},
        {"proposal": "../../etc/passwd"},
        {"proposal": "A" * 16},
        {"reviewer": ""},
        {"reviewer": "a\tb"},
        {"reviewer": "x" * (LONGEST_REVIEWER + 1)},
        {"note": "x" * (LONGEST_NOTE + 1)},
        {"note": "\ud800"},
        {"shown": {"all": "x" * LONGEST_SHOWN}},
    ],
)
def test_what_is_too_long_or_no_label_is_refused_and_nothing_is_written(labels, given):
    usual = {"proposal": A, "verdict": "right", "reviewer": "ann", "chosen": "drawn"}
    with pytest.raises(AssentError):
        labels.add(**{**usual, **given})
    assert not labels.rows()


def test_of_labels_that_are_added_together_all_or_none_are_written(labels):
    with pytest.raises(AssentError):
        labels.add_all([Given(A, "right", "ann", "batch"), Given(B, "perhaps", "ann", "batch")])
    assert not labels.rows()


def test_a_note_becomes_one_line(labels):
    assert labels.add(A, "right", "ann", chosen="drawn", note=" a\tb\n\x00c ").note == "a b c"


def test_a_file_of_something_else_is_refused_in_one_line(tmp_path):
    path = tmp_path / "labels.sqlite"
    path.write_text("not a database, but long enough to be looked at as one" * 30)
    with pytest.raises(DataError, match="labels"):
        Labels(path)


def start(path, reviewer, count):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), reviewer, str(count)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )


def test_killed_between_any_two_labels_nothing_that_was_confirmed_is_lost(tmp_path):
    path, confirmed = tmp_path / "labels.sqlite", []
    chance = random.Random(0)
    for turn in range(4):
        process = start(path, f"ann{turn}", 100_000)
        for _ in range(chance.randrange(3, 60)):
            confirmed.append((f"ann{turn}", *process.stdout.readline().split()))
        time.sleep(chance.random() / 50)
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        process.stdout.close()
    with Labels(path) as labels:
        there = {(row.reviewer, str(row.id), row.proposal) for row in labels.rows()}
        assert set(confirmed) <= there
        assert [row.id for row in labels.rows()] == sorted({row.id for row in labels.rows()})
        labels.add(A, "right", "ben", chosen="drawn")


def test_several_writers_at_once_lose_nothing(tmp_path):
    path, count = tmp_path / "labels.sqlite", 40
    with Labels(path) as labels:
        writers = [start(path, f"reviewer {number}", count) for number in range(3)]
        for number in range(count):
            labels.add(f"{number:016x}", "wrong", "me", chosen="drawn")
        for writer in writers:
            writer.communicate(timeout=120)
        assert len(labels.rows()) == len(labels.current()) == 4 * count


def test_an_old_label_that_is_imported_later_does_not_count(labels):
    labels.add(A, "right", "ann", chosen="drawn")
    labels.add_all([Given(A, "wrong", "ann", "import", time=1_000_000.0)])
    assert verdicts(labels) == {(A, "ann"): "right"}
    for moment in (-1.0, 1e12, float("nan")):
        with pytest.raises(DataError, match="between the years"):
            labels.add_all([Given(B, "wrong", "ann", "import", time=moment)])


def test_a_label_of_a_moment_to_come_is_refused_for_it_would_count_until_then(labels):
    with pytest.raises(DataError, match="is still to come"):
        labels.add_all([Given(A, "wrong", "ann", "import", time=4_070_908_800.0)])  # 2099
    assert not labels.rows()


def test_a_change_counts_though_the_clock_has_gone_back(labels):
    (ahead,) = labels.add_all([Given(A, "right", "ann", "drawn", time=time.time() + 7200)])
    changed = labels.change(ahead.id, "wrong", "ann")
    assert verdicts(labels) == {(A, "ann"): "wrong"}
    labels.change(changed.id, "unknown", "ann")
    assert verdicts(labels) == {(A, "ann"): "unknown"}
    labels.undo("ann")
    assert verdicts(labels) == {(A, "ann"): "wrong"}


@pytest.mark.parametrize(
    "change",
    ["time = NULL", "time = -1", "time = 'x'", "verdict = 'x'", "note = x'ff'", "chosen = ''"],
)
def test_a_row_that_somebody_changed_into_no_label_is_refused(change, labels, tmp_path):
    labels.add(A, "right", "ann", chosen="drawn")
    with sqlite3.connect(tmp_path / "labels.sqlite") as file:
        file.execute("DROP TRIGGER never_changed")
        file.execute("CREATE TABLE changed AS SELECT * FROM labels")  # where all may be null
        file.execute("DROP TABLE labels")
        file.execute("ALTER TABLE changed RENAME TO labels")
        file.execute(f"UPDATE labels SET {change}")
    with (
        Labels(tmp_path / "labels.sqlite") as again,
        pytest.raises(DataError, match="row 1 is no label"),
    ):
        again.current()


def by_hand(path, *statements):
    """Changes the file as a program would that is not assent."""
    with closing(sqlite3.connect(path)) as file:
        file.executescript(";".join(("DROP TRIGGER never_changed", "DROP TRIGGER never_deleted")))
        file.executescript(";".join(statements))


def three(path):
    """A file with three labels, closed."""
    with Labels(path) as made:
        for key in (A, B, C):
            made.add(key, "wrong", "ann", chosen="drawn")
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE labels SET verdict = 'right'", "row 1 is not as it was written"),
        ("UPDATE labels SET verdict = 'right' WHERE id = 3", "row 3 is not as it was written"),
        ("UPDATE labels SET verdict = 'right', digest = NULL WHERE id = 3", "row 3 is not"),
        ("UPDATE labels SET verdict = 'right', digest = NULL", "not the labels of labels.json"),
        ("UPDATE labels SET chosen = 'import' WHERE id = 2", "row 2 is not as it was written"),
        ("UPDATE labels SET id = 9 WHERE id = 3", "row 9 is not as it was written"),
        ("DELETE FROM labels WHERE id = 1", "row 2 is not as it was written"),
        ("DELETE FROM labels WHERE id = 3", "has 2 rows of labels, and had 3"),
        ("DELETE FROM labels", "has 0 rows of labels, and had 3"),
    ],
)
def test_a_row_that_was_changed_or_taken_out_is_told_of(tmp_path, change, message):
    by_hand(path := three(tmp_path / "labels.sqlite"), change)
    with Labels(path) as labels, pytest.raises(DataError, match=message):
        labels.current()


@pytest.mark.parametrize("damage", ["empty", "no table", "no file"])
def test_a_file_without_its_table_is_a_lost_one_not_an_empty_one(tmp_path, damage):
    path = three(tmp_path / "labels.sqlite")
    if damage == "no table":
        by_hand(path, "DROP TABLE labels")
    else:
        path.write_bytes(b"") if damage == "empty" else path.unlink()
    with pytest.raises(DataError, match="the labels are gone"):
        Labels(path)


@pytest.mark.parametrize("content", [None, "", "{}", "[]", '{"rows": 1e999, "digest": ""}', "\0"])
def test_a_head_that_is_gone_or_damaged_is_told_of(tmp_path, content):
    head = head_of(path := three(tmp_path / "labels.sqlite"))
    head.unlink() if content is None else head.write_text(content)
    with (
        Labels(path) as labels,
        pytest.raises(DataError, match=r"labels\.json: .*put the file back"),
    ):
        labels.rows()


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_head_that_is_behind_the_rows_is_no_fault_and_is_brought_up(tmp_path, rows):
    """As a kill between the rows and their head leaves it."""
    path = tmp_path / "labels.sqlite"
    with Labels(path) as labels:
        for key in (A, B, C)[:rows]:
            labels.add(key, "right", "ann", chosen="drawn")
        if not rows:
            labels.undo("ann")  # the head is there before the first row
        head = head_of(path).read_bytes()
        labels.add_all([Given(A, "right", "ann", "batch"), Given(B, "right", "ann", "batch")])
    head_of(path).write_bytes(head)
    with Labels(path) as labels:
        assert len(labels.rows()) == rows + 2
        labels.add(A, "right", "ben", chosen="drawn")
    assert json.loads(head_of(path).read_text())["rows"] == rows + 3


def test_a_file_from_before_the_chain_is_read_and_chained_from_then_on(tmp_path):
    path = three(tmp_path / "labels.sqlite")
    by_hand(path, "ALTER TABLE labels DROP COLUMN digest")
    head_of(path).unlink()
    with Labels(path) as labels:
        assert [row.verdict for row in labels.rows()] == ["wrong"] * 3
        labels.add(A, "right", "ben", chosen="drawn")
    with Labels(path) as labels:
        assert len(labels.rows()) == 4
    by_hand(path, "UPDATE labels SET verdict = 'right' WHERE id = 2")
    with Labels(path) as labels, pytest.raises(DataError, match="row 4 is not as it was written"):
        labels.rows()


def test_a_full_disk_after_the_rows_loses_no_label(labels, monkeypatch):
    def full(path, **_):
        raise PlaceError(f"{path}: no space")

    labels.undo("ann")
    monkeypatch.setattr("assent.reviewing.labels.beside", full)
    labels.add(A, "right", "ann", chosen="drawn")
    with Labels(labels.path) as again:
        assert len(again.rows()) == 1
