"""A review without its page: what it promises, and labels and facts as files."""

import json
import shutil
import socket

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


@pytest.mark.parametrize("option", ["--export", "--accepted"])
def test_a_file_that_is_there_is_replaced_only_if_told(say, run, tmp_path, option):
    path = tmp_path / "mine.tsv"
    path.write_text("mine\n")
    code, _, complaint = say("review", run, option, path)
    assert code == 2 and f"{path}: is there already" in complaint
    assert path.read_text() == "mine\n"
    assert say("review", run, option, path, "--overwrite")[0] == 0
    assert path.read_text() != "mine\n"


@pytest.mark.parametrize("name", ["labels.sqlite", "labels.json", "design.json", "new.tsv"])
def test_nothing_goes_to_the_folder_of_the_review_itself(say, run, name):
    path = run / "review" / name
    before = path.read_bytes() if path.exists() else None
    for option in ("--export", "--accepted"):
        code, _, complaint = say("review", run, option, path, "--overwrite")
        assert code == 2 and "kept by assent for the run alone; choose another place" in complaint
    assert (path.read_bytes() if path.exists() else None) == before


def test_labels_and_facts_do_not_go_to_one_file(say, run, tmp_path):
    path = tmp_path / "both.tsv"
    code, _, complaint = say("review", run, "--export", path, "--accepted", path)
    assert code == 2 and "one file cannot hold both" in complaint and not path.exists()


@pytest.mark.parametrize("options", [["--status"], []])
def test_another_seed_than_that_of_the_proposals_is_refused(say, run, options):
    code, _, complaint = say("review", run, "--seed", 7, *options)
    assert code == 2 and "--seed 7: the proposals were made with seed 0" in complaint
    assert say("review", run, "--seed", 0, "--status")[0] == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("labels.sqlite", "the labels of this review are gone"),
        ("design.json", "is gone, but there are labels"),
        ("proposals.jsonl", "No such file"),
        ("planted.jsonl", "No such file"),
    ],
)
def test_a_file_of_a_review_that_is_gone_is_named_with_what_to_do(say, run, name, message):
    path = run / "review" / name
    path.unlink()
    code, printed, complaint = say("review", run, "--status")
    assert code == 2 and not printed and len(complaint.strip().splitlines()) == 1
    assert f"{path}: {message}" in complaint
    assert f"put the file back, or remove {run / 'review'} to begin a new review" in complaint
    assert not path.exists()


@pytest.mark.parametrize("name", ["design.json", "proposals.jsonl", "planted.jsonl"])
@pytest.mark.parametrize("damage", ["{", "", "[1]\n"])
def test_a_damaged_file_of_a_review_is_named_with_what_to_do(say, run, name, damage):
    path = run / "review" / name
    path.write_text(damage)
    code, _, complaint = say("review", run, "--status")
    assert code == 2 and len(complaint.strip().splitlines()) == 1
    assert str(path) in complaint and "to begin a new review" in complaint


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
    assert code == 2 and f"{path}:1: head" in complaint and "not there" in complaint


def test_numbers_that_no_promise_can_have_are_refused(say, run):
    code, _, complaint = say("review", run, "--status", "--precision", 1.5)
    assert code == 2 and "precision 1.5" in complaint


def checked(run):
    return {check.name: check for check in assent.verify(run)}["review"]


@pytest.mark.parametrize("name", ["design.json", "proposals.jsonl", "planted.jsonl"])
def test_a_flipped_bit_in_a_review_is_found_wherever_it_is(say, run, name):
    assert checked(run).state == "right" and "rows of labels" in checked(run).detail
    path = run / "review" / name
    content = path.read_bytes()
    for spot in range(0, len(content) - 1, max(len(content) // 12, 1)):
        if name == "design.json" and content[spot : spot + 1].isspace():
            continue  # two spaces in JSON say what one says
        path.write_bytes(content[:spot] + bytes([content[spot] ^ 1]) + content[spot + 1 :])
        assert checked(run).state == "wrong", spot
        code, _, complaint = say("review", run, "--status")
        assert code == 2 and str(path) in complaint and "to begin a new review" in complaint


@pytest.mark.parametrize("damage", [lambda content: content[:5000], lambda _: b"no database" * 99])
def test_a_damaged_file_of_labels_is_found_by_verify(run, damage):
    path = run / "review" / "labels.sqlite"
    path.write_bytes(damage(path.read_bytes()))
    assert checked(run).state == "wrong" and str(path) in checked(run).detail


def test_a_review_of_before_checksums_is_read(run):
    path = run / "review" / "design.json"
    design = json.loads(path.read_text())
    path.write_text(json.dumps({k: v for k, v in design.items() if k not in ("files", "checksum")}))
    assert checked(run).state == "right"


@pytest.mark.parametrize(
    "words",
    [
        ["--reviewer", ""],
        ["--reviewer", "ann", "--reviewer", "ann"],
        ["--port", 70_000],
        ["--host", "no.such.host.invalid"],
        ["--precision", 2],
        ["--confidence", 0.1],
        ["--seed", -1],
        ["--port", "taken"],
    ],
)
def test_options_that_cannot_be_are_refused_before_a_review_begins(say, run, words):
    """Proposals stay as they are, and so does their seed."""
    shutil.rmtree(run / "review")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        words = [taken.getsockname()[1] if word == "taken" else word for word in words]
        code, _, complaint = say("review", run, "--port", 0, "--seed", 7, *words)
    assert code == 2 and complaint.count("\n") == 1
    assert "no model" not in complaint and not (run / "review").exists()
