"""The verbs around a review: proposals of a real, small run, and what its labels change."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

import assent
import toy
from assent.errors import ConfigError, DataError
from assent.reporting.new_facts import completion_grid
from assent.reviewing.exchange import COLUMNS, export_labels, import_labels
from assent.reviewing.labels import Labels
from assent.reviewing.proposals import keys_of
from assent.verbs.review import propose, write_accepted
from assent.verbs.train import train

QUICK = ("model.dim=8", "train.epochs=15", "train.evaluate_every=0", "train.threads=1")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reviewed")
    kb = toy.crowd(0, num_entities=60, num_relations=4, facts_each=8)
    assent.save(toy.built(kb), folder / "benchmark")
    return train(folder / "benchmark", "complex", out=folder / "run", changes=QUICK)


@pytest.fixture(scope="module")
def opened(run):
    propose(run, least=0.01, seed=3)
    made = assent.review(run.folder)
    yield made
    made.close()


def test_proposals_are_new_ordered_and_capped_with_what_was_left_out_said(run, tmp_path, opened):
    facts = opened.proposals.facts
    assert len(facts) > 20 and (np.diff(facts.probabilities) <= 0).all()
    names = opened.benchmark.vocabulary
    known = {
        (names.entities[h], names.relations[r], names.entities[t])
        for h, r, t in opened.benchmark.train.tolist()
    }
    mine = facts.vocabulary
    proposed = {
        (mine.entities[h], mine.relations[r], mine.entities[t]) for h, r, t in facts.facts.tolist()
    }
    assert not proposed & known
    copy = replace(run, folder=tmp_path)
    few = propose(copy, least=0.01, most=7, seed=3)
    assert len(few) == 7 and few.left_out == len(facts) - 7
    assert few.keys == opened.proposals.keys[:7]


@pytest.mark.parametrize("option", ["--status", "--export", "--accepted"])
def test_what_only_looks_begins_no_review(say, run, tmp_path, option):
    """Runs before any review of the run has begun."""
    words = [option] if option == "--status" else [option, tmp_path / "out.tsv"]
    folder = tmp_path / "run"
    shutil.copytree(run.folder, folder, ignore=shutil.ignore_patterns("review"))
    code, printed, complaint = say("review", folder, *words)
    assert (
        code == 2 and not printed and "no review has begun; `assent review` begins one" in complaint
    )
    assert not (folder / "review").exists() and not (tmp_path / "out.tsv").exists()


def test_proposals_are_made_once(run, opened):
    with pytest.raises(DataError, match="stay"):
        propose(run, least=0.01)


def test_labels_reach_complete_tune_and_the_next_graph(run, opened, tmp_path):
    with pytest.raises(ConfigError, match="precision"):
        assent.complete(run, reviewed=True)
    first = assent.complete(run, 0.5, review_above=0.01)
    rejected, confirmed = keys_of(first.facts)[0], keys_of(first.review)[-1]
    places = opened.proposals.places
    assert rejected in places and confirmed in places
    opened.decide(rejected, "wrong", "ann", order="probable")
    opened.decide(confirmed, "right", "ann", order="probable")
    second = assent.complete(run, 0.5, review_above=0.01)
    assert rejected not in keys_of(second.facts) and confirmed in keys_of(second.accepted)
    assert len(second.facts) == len(first.facts) - 1

    while (card := opened.next("ann")) is not None:
        verdict = "right" if places.get(card.key, 0) % 3 else "wrong"
        if card.key in (rejected, confirmed):
            verdict = "wrong" if card.key == rejected else "right"
        opened.decide(card.key, verdict, "ann", order=card.order)
    signed = assent.complete(run, 0.6, reviewed=True)
    assert len(signed.accepted) and rejected not in keys_of(signed.facts)
    assert signed.reviewed.reviewers == ("ann",)
    assert {name for names in signed.confirmed_by.values() for name in names} == {"ann"}
    assert len(second.confirmed_by) == 1 and len(signed.confirmed_by) > 1

    headings = [column.heading for column in completion_grid(signed).columns]
    assert headings == ["relation", "accepted", "to review"]  # nothing else was asked

    path = tmp_path / "accepted.tsv"
    assert write_accepted(opened, path) == len(assent.read(path).facts) > 0

    plain = assent.tune(run, "judge")
    taught = assent.tune(run, "judge", reviewed=True)
    assert taught.rescorer.stated()["features"] == plain.rescorer.stated()["features"]
    assert any(
        not np.array_equal(array, plain.rescorer.arrays()[name])
        for name, array in taught.rescorer.arrays().items()
    )
    assert assent.evaluate(run, taught).f1("full") >= 0
    with pytest.raises(ConfigError, match="judge"):
        assent.tune(run, "per-relation", reviewed=True)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("no file", "the labels of this review are gone; put the file back"),
        ("empty", "the labels are gone; put the file back"),
        ("no table", "the labels are gone; put the file back"),
        ("no rows", "labels are gone; put the file back"),
        ("flipped", "row 1 is not as it was written; put the file back"),
    ],
)
def test_labels_that_are_gone_or_changed_are_missed_by_all_who_go_by_them(
    run, opened, tmp_path, damage, message
):
    folder = tmp_path / "run"
    shutil.copytree(run.folder, folder)
    with Labels(path := folder / "review" / "labels.sqlite") as labels:
        labels.add(opened.proposals.keys[0], "wrong", "ann", chosen="drawn")
    if damage in ("no file", "empty"):
        path.unlink() if damage == "no file" else path.write_bytes(b"")
    else:
        with closing(sqlite3.connect(path)) as file:
            for trigger in ("never_changed", "never_deleted"):
                file.execute(f"DROP TRIGGER {trigger}")
            file.execute(
                {
                    "no table": "DROP TABLE labels",
                    "no rows": "DELETE FROM labels",
                    "flipped": "UPDATE labels SET verdict = 'right'",
                }[damage]
            )
            file.commit()
    before = path.read_bytes() if path.exists() else None
    copy = replace(run, folder=folder)
    for work in (
        lambda: assent.complete(copy, 0.9, reviewed=True),
        lambda: assent.complete(copy, 0.5),
        lambda: assent.tune(copy, "judge", reviewed=True),
        lambda: assent.review(folder).progress(),
        lambda: export_labels(tmp_path / "labels.tsv", assent.review(folder)),
        lambda: import_labels(tmp_path / "labels.tsv", assent.review(folder)),
    ):
        (tmp_path / "labels.tsv").write_text("\t".join(COLUMNS) + "\n")
        with pytest.raises(DataError, match=message):
            work()
    (check,) = [check for check in assent.verify(folder) if check.name == "review"]
    assert check.state == "wrong" and message in check.detail
    assert path.exists() == (before is not None)


def test_what_a_promise_cannot_go_with_is_refused(run, opened):
    for more in ({"missing": 1.0}, {"refit": True}, {"over": "valid"}, {"anchors": ["e0"]}):
        with pytest.raises(ConfigError, match="reviewed"):
            assent.complete(run, 0.9, reviewed=True, **more)
