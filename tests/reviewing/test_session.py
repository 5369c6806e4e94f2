"""A review from the first proposal to a promise."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from assent.errors import ConfigError, DataError
from assent.reviewing.choosing import SKIPPED_FOR, Filter
from assent.reviewing.proposals import Proposals, keys_of, planted_among, read_proposals
from assent.reviewing.proposals import write_proposals as write
from assent.verbs.review import review

PROMISED = """
import json, sys
from assent.reviewing.proposals import keys_of
from assent.verbs.review import review
print(json.dumps(keys_of(review(sys.argv[1]).promised(float(sys.argv[2])))))
"""


def test_labels_buy_a_promise_that_holds(opened, truth, label):
    label(150)
    promised = keys_of(opened.promised(0.8))
    assert len(promised) > 100 and np.mean([truth[key] for key in promised]) >= 0.8
    assert opened.promised(0.8).accepted.all()
    assert len(opened.promised(0.8)) >= len(opened.promised(0.95))


def test_the_same_labels_promise_the_same_in_another_process(opened, label):
    label(120)
    mine = list(keys_of(opened.promised(0.8)))
    found = subprocess.run(
        [sys.executable, "-c", PROMISED, str(opened.folder), "0.8"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    assert json.loads(found.stdout) == mine and mine


def test_batches_and_proposals_that_were_not_drawn_buy_nothing(opened, label):
    opened.decide_batch(Filter(), "right", "ann")
    assert not len(opened.promised(0.8)) and opened.progress(0.8).drawn == 0
    opened.undo("ann")
    label(100, order="probable")
    audit = opened.worth.audit(0.8, 0.95, None)
    assert not len(audit.accepted()) and (audit.labels == -1).all()
    assert opened.progress(0.8).graph.facts == 0


def test_a_label_that_was_not_drawn_does_not_change_what_is_proved(opened, label):
    label(100)
    before = opened.worth.audit(0.8, 0.95, None).proved()
    label(60, order="teaches")
    opened.decide_batch(Filter(most=0.3), "wrong", "ann")
    assert opened.worth.audit(0.8, 0.95, None).proved() == before


def test_do_not_know_to_everything_promises_nothing(opened):
    for _ in range(150):
        card = opened.next("ann")
        opened.decide(card.key, "unknown", "ann", order=card.order)
    assert not len(opened.promised(0.5))


def test_what_anyone_called_wrong_is_not_promised(opened, label):
    label(120)
    key = keys_of(opened.promised(0.8))[0]
    opened.decide(key, "wrong", "ben", order="probable")
    assert key not in keys_of(opened.promised(0.8))


def test_an_undone_label_no_longer_counts(opened, label):
    label(60)
    before = keys_of(opened.promised(0.8)), opened.progress(0.8).drawn
    card = opened.next("ben")
    opened.decide(card.key, "wrong", "ben", order=card.order)
    opened.undo("ben")
    assert (keys_of(opened.promised(0.8)), opened.progress(0.8).drawn) == before


def test_planted_facts_measure_a_reviewer_and_are_never_promised(opened, truth, label):
    label(150)
    ann = next(one for one in opened.reviewers() if one.name == "ann")
    assert ann.planted >= 5 and ann.planted_right == ann.planted
    assert not set(opened.proposals.planted_keys) & set(keys_of(opened.promised(0.8)))
    for _ in range(80):
        card = opened.next("bad")
        verdict = "wrong" if truth[card.key] else "right"
        opened.decide(card.key, verdict, "bad", order=card.order)
    bad = next(one for one in opened.reviewers() if one.name == "bad")
    assert bad.planted >= 3 and bad.planted_right == 0


def test_a_card_does_not_tell_that_its_fact_is_planted(opened):
    key = opened.proposals.planted_keys[0]
    card = opened.card(key, "drawn")
    fact = tuple(end.name for end in card.fact[:3])
    listed = [
        tuple(end.name for end in known[:3]) for known in (*card.about_head, *card.about_tail)
    ]
    assert fact not in listed and card.order == "drawn"


def test_a_skipped_proposal_that_was_drawn_comes_again(opened, label):
    first = opened.next("ann")
    opened.decide(first.key, "skip", "ann", order=first.order)
    seen = []
    for _ in range(SKIPPED_FOR + 3):
        card = opened.next("ann")
        seen.append(card.key)
        opened.decide(card.key, "right", "ann", order=card.order)
    assert first.key not in seen[: SKIPPED_FOR - 2] and first.key in seen


def test_two_reviewers_do_not_get_the_same_proposal(opened):
    cards = [opened.next(name) for name in ("ann", "ben", "cid")]
    assert len({card.key for card in cards}) == 3


def test_probabilities_are_recalibrated_at_once(opened):
    before = opened.probabilities.copy()
    relation = opened.card(opened.proposals.keys[0]).fact.relation.name
    for _ in range(15):
        card = opened.next("ann", order="teaches", wanted=Filter(relation=relation))
        opened.decide(card.key, "wrong", "ann", order=card.order)
    mine = np.array(
        [opened.card(key).fact.relation.name == relation for key in opened.proposals.keys]
    )
    assert (opened.probabilities[mine] < before[mine]).all()
    assert (np.diff(opened.probabilities[mine]) <= 0).all()


def test_a_relation_has_a_promise_of_its_own(opened, truth, label):
    relation = opened.proposals.facts.vocabulary.relations[0]
    label(90, wanted=Filter(relation=relation))
    promised = opened.promised(0.8, relation=relation)
    assert len(promised) and set(promised.facts[:, 1].tolist()) == {0}
    assert np.mean([truth[key] for key in keys_of(promised)]) >= 0.8


def test_progress_says_what_was_done_and_what_the_next_step_takes(opened, label):
    assert opened.progress(0.8).pilot_left and opened.progress(0.8).graph.checks is None
    label(40)
    progress = opened.progress(0.8)
    assert progress.done + progress.left == 300 and progress.drawn == progress.done
    assert progress.pilot_left == 0 and progress.graph.checks > 0
    assert progress.next_relation is None or progress.next_relation.facts == 0
    labels = opened.relation_labels()
    assert any("whole graph" in line for line in progress.lines(labels))
    soonest = progress.graph._replace(relation="r0", checks=7)
    said = progress._replace(next_relation=soonest).lines(labels | {"r0": "lives in"})
    assert any(line.startswith("the next relation: lives in, ") for line in said)


@pytest.mark.parametrize(("precision", "confidence"), [(0, 0.9), (1, 0.9), (0.9, 1), (0.9, 0.2)])
def test_numbers_that_no_promise_can_have_are_refused(opened, precision, confidence):
    with pytest.raises(ConfigError):
        opened.promised(precision, confidence)


def test_an_unknown_key_or_order_is_refused(opened):
    with pytest.raises(DataError):
        opened.decide("f" * 16, "right", "ann", order="drawn")
    with pytest.raises(ConfigError):
        opened.next("ann", order="by heart")


def test_proposals_are_frozen_once_they_are_made(opened):
    with pytest.raises(DataError, match="stay"):
        write(opened.folder, opened.proposals)
    path = opened.folder / "review" / "proposals.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(DataError, match="not the facts that the review began with"):
        read_proposals(opened.folder)


def test_the_most_probable_comes_first_by_the_probability_that_is_shown(opened):
    """Labels lower one relation and raise the others: the most probable no longer is."""
    facts = opened.proposals.facts
    top = facts.facts[:, 1] == facts.facts[0, 1]
    for verdict, places in (("wrong", np.flatnonzero(top)), ("right", np.flatnonzero(~top))):
        for place in places[1:31]:
            opened.decide(opened.proposals.keys[place], verdict, "ann", order="probable")
    shown = []
    for _ in range(20):
        card = opened.next("ben", order="probable", excluding=[one.key for one in shown])
        shown.append(card)
    assert [c.probability for c in shown] == sorted((c.probability for c in shown), reverse=True)
    assert shown[0].key != opened.proposals.keys[0] and shown[0].recalibrated_by == 60
    assert [c.key for c in opened.preview(Filter()).examples] == [c.key for c in shown[:10]]


def test_proposals_must_be_given_by_falling_probability(opened):
    facts = opened.proposals.facts
    with pytest.raises(DataError, match="most probable first"):
        Proposals(facts.take(np.arange(300)[::-1]), opened.proposals.planted, 0, 0.05, 0)


def test_planted_facts_are_known_or_false_and_never_proposed(opened):
    known = opened.benchmark.train
    facts = opened.proposals.facts
    # The proposals' own ids: those of the file, so the known facts are translated by name.
    entities = {name: i for i, name in enumerate(facts.vocabulary.entities)}
    names = opened.benchmark.vocabulary
    named = [(names.entities[h], names.relations[r], names.entities[t]) for h, r, t in known]
    mine = np.array(
        [
            (entities[h], facts.vocabulary.relations.index(r), entities[t])
            for h, r, t in named
            if h in entities and t in entities
        ]
    )
    planted = planted_among(facts, mine, 30, np.random.default_rng(0))
    there, proposed = {tuple(f) for f in mine.tolist()}, {tuple(f) for f in facts.facts.tolist()}
    for fact, true in zip(planted.facts.tolist(), planted.accepted.tolist(), strict=True):
        assert (tuple(fact) in there) == true and tuple(fact) not in proposed
    assert planted.accepted.any() and not planted.accepted.all()


def test_a_run_without_proposals_has_no_review(tmp_path):
    with pytest.raises(DataError, match="no proposals"):
        review(tmp_path)


def test_only_what_was_drawn_for_a_reviewer_counts_whatever_is_said_of_the_order(opened):
    drawn, other = opened.next("ann"), opened.proposals.keys[0]
    assert drawn.key != other and not opened.decide(other, "right", "ann", order="drawn").drawn
    assert not opened.decide(drawn.key, "right", "ben", order="drawn").drawn  # ann was shown it
    assert opened.progress().drawn == 0
    assert opened.decide(drawn.key, "right", "ann", order="probable").drawn
    assert opened.progress().drawn == 1
    probable = opened.next("ann", order="probable")
    assert opened.decide(probable.key, "right", "ann", order="drawn").chosen == "probable"


def test_what_was_drawn_comes_again_as_drawn_after_an_undo_and_a_new_start(opened):
    card = opened.next("ann")
    opened.decide(card.key, "right", "ann", order=card.order)
    opened.undo("ann")
    again = review(opened.folder)
    assert again.decide(card.key, "wrong", "ann", order=card.order).drawn
    again.close()
