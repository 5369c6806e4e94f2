"""A review without its page: what it promises, and labels and facts as files."""

import pytest

import assent
from assent.verbs.review import review
from served_reviews import make_review


@pytest.fixture
def run(tmp_path):
    """A run with 300 proposals, of which 60 were drawn and called right."""
    folder = make_review(tmp_path, 300)
    opened = review(folder)
    for _ in range(60):
        card = opened.next("ann")
        opened.decide(card.key, "right", "ann", order=card.order)
    opened.close()
    return folder


def test_the_status_says_what_is_promised(say, run):
    code, printed, _ = say("review", run, "--status", "--precision", 0.8)
    assert code == 0 and "proposals promised, at least 80% right, with confidence 95%" in printed


def test_labels_go_to_a_file_and_come_back_once(say, run, tmp_path):
    path = tmp_path / "labels.tsv"
    code, printed, _ = say("review", run, "--export", path)
    assert code == 0 and f"60 labels: {path}" in printed
    assert len(path.read_text(encoding="utf-8").splitlines()) == 61
    code, printed, _ = say("review", run, "--import", path)
    assert code == 0 and "0 added, 60 were there already" in printed


@pytest.mark.parametrize("suffix", [".tsv", ".nt"])
def test_what_was_called_right_is_a_graph_that_can_be_built_from(say, run, tmp_path, suffix):
    path = tmp_path / f"accepted{suffix}"
    code, printed, _ = say("review", run, "--accepted", path)
    count = len(assent.read(path).facts)
    assert code == 0 and f"{count:,} facts: {path}" in printed and 50 <= count <= 60


def test_a_file_that_holds_no_labels_is_refused(say, run, tmp_path):
    path = tmp_path / "labels.tsv"
    path.write_text("what\n")
    code, _, complaint = say("review", run, "--import", path)
    assert code == 2 and f"{path}:1: expected the columns" in complaint


def test_numbers_that_no_promise_can_have_are_refused(say, run):
    code, _, complaint = say("review", run, "--status", "--precision", 1.5)
    assert code == 2 and "precision 1.5" in complaint
