"""What people said, in completions and in what a judge is trained on."""

from dataclasses import replace

import numpy as np

from assent.completing.completing import Completion, Outcome
from assent.completing.refusing import Refused
from assent.core.arrays import frozen
from assent.core.pairs import joined
from assent.core.queries import Subset
from assent.reviewing.accepting import completed, judged, respecting, taught
from assent.reviewing.choosing import Filter
from assent.reviewing.proposals import keys_of
from assent.verbs.review import benchmark_of


def completion(facts):
    nothing = Refused.joined([], facts.vocabulary)
    outcomes = tuple(
        Outcome(
            relation,
            1,
            int(facts.accepted[facts.facts[:, 1] == relation].sum()),
            int((~facts.accepted[facts.facts[:, 1] == relation]).sum()),
            0,
            0,
            True,
            nothing,
        )
        for relation in range(3)
    )
    return Completion(facts, outcomes, 3, False)


def test_rejected_facts_never_come_back_and_confirmed_ones_are_accepted(opened):
    facts = opened.proposals.facts.take(np.arange(40))
    facts = replace(facts, accepted=frozen(np.arange(40) < 20, np.bool_))
    keys = keys_of(facts)
    for key, verdict in ((keys[0], "wrong"), (keys[1], "unknown"), (keys[30], "right")):
        opened.decide(key, verdict, "ann", order="probable")
    opened.decide(keys[31], "right", "ann", order="probable")
    opened.decide(keys[31], "wrong", "ben", order="probable")
    found = respecting(completion(facts), judged(opened.labels))
    left = dict(zip(keys_of(found.facts), found.facts.accepted.tolist(), strict=True))
    assert keys[0] not in left and keys[31] not in left and len(left) == 38
    assert left[keys[30]] and left[keys[1]] and not left[keys[32]]
    for outcome in found.outcomes:
        mine = found.facts.take(found.facts.facts[:, 1] == outcome.relation)
        assert outcome.accepted == mine.accepted.sum()
        assert outcome.review == len(mine) - mine.accepted.sum()


def test_without_labels_a_completion_stays_as_it_is(opened):
    facts = opened.proposals.facts.take(np.arange(10))
    found = respecting(completion(facts), judged(opened.labels))
    assert keys_of(found.facts) == keys_of(facts)


def test_a_reviewed_completion_is_the_promise_and_what_is_left(opened, label):
    label(120)
    found = completed(opened, 0.8, 0.95, review_above=0.3)
    assert keys_of(found.accepted) == keys_of(opened.promised(0.8)) and found.finished
    left = set(keys_of(found.review))
    assert left and not left & set(keys_of(found.accepted)) and not left & opened.refused_keys()
    assert sum(outcome.accepted for outcome in found.outcomes) == len(found.accepted)
    assert found.reviewed.precision == 0.8 and found.reviewed.drawn == opened.progress().drawn


def test_named_relations_are_promised_one_by_one(opened, label):
    label(200)
    names = opened.proposals.facts.vocabulary.relations
    found = completed(opened, 0.8, 0.95, [names[1]], review_above=0.3)
    assert set(found.facts.facts[:, 1].tolist()) == {1} and found.reviewed.relations == 1
    assert keys_of(found.accepted) == keys_of(opened.promised(0.8, relation=names[1]))


def test_queries_about_what_people_looked_at_are_asked_with_what_they_said(opened):
    benchmark = benchmark_of(opened.folder)
    valid = benchmark.valid
    ends = {frozenset(pair) for pair in benchmark.train[:, [0, 2]].tolist()}
    free = [key for key in opened.proposals.keys if _ends(opened, key) not in ends]
    right, wrong, unsure = free[:3]
    linked = next(key for key in opened.proposals.keys if _ends(opened, key) in ends)
    for key, verdict in ((right, "right"), (wrong, "wrong"), (unsure, "unknown")):
        opened.decide(key, verdict, "ann", order="probable")
    opened.decide_batch(Filter(), "right", "ann")
    opened.decide(linked, "right", "ben", order="probable")
    found = taught(benchmark, opened)
    answers = {
        (int(found.anchors[q]), int(found.relations[q])): set(
            found.answers[found.offsets[q] : found.offsets[q + 1]].tolist()
        )
        for q in range(len(found))
    }
    before = {
        (int(valid.anchors[q]), int(valid.relations[q])): set(
            valid.answers[valid.offsets[q] : valid.offsets[q + 1]].tolist()
        )
        for q in range(len(valid))
    }
    assert len(answers) == len(found)  # each query once
    assert all(before[pair] <= answers[pair] for pair in before)
    for key, is_right in ((right, True), (wrong, False)):
        for pair, answer in _both_ways(opened, key):
            assert (answer in answers[pair]) == is_right
    added = set(answers) - set(before)
    apart = joined(benchmark.train, valid, benchmark.vocabulary.num_entities).held_out
    assert len(added) <= (4 if apart else 6)
    assert joined(benchmark.train, found, benchmark.vocabulary.num_entities).held_out == apart
    kinds = {
        int(found.subsets[q])
        for q in range(len(found))
        if (int(found.anchors[q]), int(found.relations[q])) in added
    }
    assert kinds <= {int(Subset.INCOMPLETE)}


def _ends(opened, key):
    return frozenset(place for (place, _), _ in _both_ways(opened, key))


def _both_ways(opened, key):
    """The tail query and the head query of a proposal, each with its answer, by the graph's ids."""
    names = opened.benchmark.vocabulary
    card = opened.card(key)
    head, tail = (names.entities.index(end.name) for end in (card.fact.head, card.fact.tail))
    relation = names.relations.index(card.fact.relation.name)
    return [((head, relation), tail), ((tail, relation + names.num_relations), head)]
