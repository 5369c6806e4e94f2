"""Labels out to a file and back."""

import pytest

from assent.errors import DataError
from assent.reviewing.exchange import export_labels, import_labels
from assent.reviewing.proposals import keys_of
from assent.verbs.review import review
from served_reviews import make_review


def test_labels_that_go_out_and_come_back_promise_the_same(opened, label, tmp_path):
    label(80)
    card = opened.next("ben")
    opened.decide(card.key, "unknown", "ben", "what is\tthis?", order=card.order)
    path = tmp_path / "labels.tsv"
    assert export_labels(path, opened.labels, opened.proposals) == 81
    other = review(make_review(tmp_path / "other", 300))
    found = import_labels(path, other.labels, other.proposals)
    assert found == (81, 0, 0)
    assert keys_of(other.promised(0.8)) == keys_of(opened.promised(0.8))
    said = {
        (row.proposal, row.reviewer, row.verdict, row.chosen, row.note, row.time)
        for row in opened.labels.current()
    }
    assert said == {
        (row.proposal, row.reviewer, row.verdict, row.chosen, row.note, row.time)
        for row in other.labels.current()
    }
    assert import_labels(path, other.labels, other.proposals) == (0, 81, 0)
    other.close()


def test_what_another_design_drew_does_not_count_towards_a_promise(opened, label, tmp_path):
    label(60)
    path = tmp_path / "labels.tsv"
    export_labels(path, opened.labels, opened.proposals)
    other = review(make_review(tmp_path / "other", 250, seed=0))
    found = import_labels(path, other.labels, other.proposals)
    assert found.added + found.strange == 60 and found.added
    assert other.progress(0.8).drawn == 0
    assert {row.chosen for row in other.labels.current()} <= {"import", "planted"}
    other.close()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a\tb", ":2: expected 9"),
        ("h\tr\tt\tperhaps\tann\t2026-01-01T00:00:00+00:00\tdrawn\tx\t", ":2: .*verdict"),
        ("h\tr\tt\tright\tann\tyesterday\tdrawn\tx\t", ":2: "),
        ("h\tr\tt\tright\tann\t2026-01-01T00:00:00+00:00\tguessed\tx\t", ":2: .*chosen"),
    ],
)
def test_a_line_that_is_no_label_is_refused_by_its_number(opened, tmp_path, line, message):
    path = tmp_path / "labels.tsv"
    export_labels(path, opened.labels, opened.proposals)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(DataError, match=message):
        import_labels(path, opened.labels, opened.proposals)
    assert not opened.labels.rows()


def test_a_file_without_the_header_is_refused(opened, tmp_path):
    path = tmp_path / "labels.tsv"
    path.write_text("h\tr\tt\n")
    with pytest.raises(DataError, match=":1: expected the columns"):
        import_labels(path, opened.labels, opened.proposals)
