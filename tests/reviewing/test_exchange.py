"""Labels out to a file and back."""

import pytest

from assent.errors import DataError
from assent.reviewing.exchange import COLUMNS, export_labels, import_labels
from assent.reviewing.proposals import keys_of
from assent.verbs.review import review
from served_reviews import make_review


def test_labels_that_go_out_and_come_back_promise_the_same(opened, label, tmp_path):
    label(80)
    card = opened.next("ben")
    opened.decide(card.key, "unknown", "ben", "what is\tthis?", order=card.order)
    path = tmp_path / "labels.tsv"
    assert export_labels(path, opened) == 81
    other = review(make_review(tmp_path / "other", 300))
    found = import_labels(path, other)
    assert found == (81, 0, 0, 0)
    assert keys_of(other.promised(0.8)) == keys_of(opened.promised(0.8))
    said = {
        (row.proposal, row.reviewer, row.verdict, row.chosen, row.note, row.time)
        for row in opened.labels.current()
    }
    assert said == {
        (row.proposal, row.reviewer, row.verdict, row.chosen, row.note, row.time)
        for row in other.labels.current()
    }
    assert import_labels(path, other) == (0, 81, 0, 0)
    other.close()


def test_what_another_design_drew_does_not_count_towards_a_promise(opened, label, tmp_path):
    label(60)
    path = tmp_path / "labels.tsv"
    export_labels(path, opened)
    other = review(make_review(tmp_path / "other", 250, seed=0))
    found = import_labels(path, other)
    assert found.added + found.strange == 60 and found.added
    assert other.progress(0.8).drawn == 0
    assert {row.chosen for row in other.labels.current()} <= {"import", "planted"}
    other.close()


NOON = "2026-01-01T12:00:00+00:00"


def named(opened, place=0):
    """Head, relation and tail of a proposal, as a file has them."""
    names = opened.proposals.facts.vocabulary
    head, relation, tail = opened.proposals.facts.facts[place].tolist()
    return "\t".join((names.entities[head], names.relations[relation], names.entities[tail]))


def import_lines(opened, path, *lines):
    path.write_text("\n".join(["\t".join(COLUMNS), *lines]) + "\n", encoding="utf-8")
    return import_labels(path, opened)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a\tb", ":2: expected 9 tab-separated columns, found 2"),
        (f"FACT\tperhaps\tann\t{NOON}\tdrawn\tx\t", ":2: unknown verdict 'perhaps'"),
        ("FACT\tright\tann\tyesterday\tdrawn\tx\t", ":2: time 'yesterday'; expected one such as"),
        (f"FACT\tright\tann\t{NOON}\tguessed\tx\t", ":2: unknown chosen 'guessed'"),
        (f"FACT\tright\tann\t2099{NOON[4:]}\tdrawn\tx\t", ":2: time: is still to come"),
        (f"FACT\tright\t \t{NOON}\tdrawn\tx\t", ":2: reviewer: expected a name"),
        (f"Olso\tr\tt\tright\tann\t{NOON}\tdrawn\tx\t", ":2: the graph has no head 'Olso'"),
    ],
)
def test_a_line_that_is_no_label_is_refused_by_its_number(opened, tmp_path, line, message):
    good = f"{named(opened, 1)}\tright\tann\t{NOON}\tdrawn\tx\t"
    with pytest.raises(DataError, match=f"labels.tsv{message}.*nothing was imported"):
        import_lines(opened, tmp_path / "labels.tsv", line.replace("FACT", named(opened)), good)
    assert not opened.labels.rows()


def test_a_label_that_stands_twice_is_added_once_and_counted(opened, tmp_path):
    line = f"{named(opened)}\tright\tann\t{NOON}\tdrawn\tx\t"
    assert import_lines(opened, tmp_path / "labels.tsv", line, "", line) == (1, 0, 1, 0)
    assert len(opened.labels.rows()) == 1


def test_two_lines_that_contradict_each_other_are_refused(opened, tmp_path):
    lines = [f"{named(opened)}\t{said}\tann\t{NOON}\tdrawn\tx\t" for said in ("right", "wrong")]
    with pytest.raises(DataError, match=":3: 'wrong', but line 2 says 'right'"):
        import_lines(opened, tmp_path / "labels.tsv", *lines)
    assert not opened.labels.rows()


def test_a_verdict_that_was_edited_in_the_file_is_not_passed_over(opened, label, tmp_path):
    label(1)
    path = tmp_path / "labels.tsv"
    export_labels(path, opened)
    other = "wrong" if opened.labels.rows()[0].verdict == "right" else "right"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f"\t{opened.labels.rows()[0].verdict}\t", f"\t{other}\t"))
    with pytest.raises(DataError, match=f":2: ann said .*, not '{other}'.*a later time"):
        import_labels(path, opened)


def test_a_file_without_the_header_is_refused(opened, tmp_path):
    path = tmp_path / "labels.tsv"
    path.write_text("h\tr\tt\n")
    with pytest.raises(DataError, match=r":1: head.*: not there; expected a line with"):
        import_labels(path, opened)


def test_a_file_that_lacks_a_column_is_told_which(opened, tmp_path):
    path = tmp_path / "labels.tsv"
    path.write_text("\t".join(name for name in COLUMNS if name != "reviewer") + "\n")
    with pytest.raises(DataError, match=":1: reviewer: not there; expected a line with"):
        import_labels(path, opened)
    path.write_text("")
    with pytest.raises(DataError, match=r":1: head.*: not there"):
        import_labels(path, opened)
