"""True or false: thresholds are the best there are, and every given fact is accounted for."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import assent
import toy
from assent.core.counts import Counts
from assent.measuring.triples import (
    LabelledFacts,
    ScoredFacts,
    TripleClassification,
    accuracy,
    best_threshold,
    best_thresholds,
)
from assent.reporting.grid import DASH
from assent.reporting.measures import triples_grid
from assent.scoring import score_facts
from assent.verbs.triples import classify_triples
from measuring import fact_oracles

SCORES = st.sampled_from([-np.inf, -2.0, -1.0, 0.0, 0.5, 1.0, 3.0])
FACTS = st.lists(st.tuples(SCORES, st.booleans()), max_size=12)


class Table:
    """Scores that anyone can look up: (anchor, relation, entity) -> a number."""

    def __init__(self, scores):
        self.values = torch.tensor(np.asarray(scores, np.float32))  # (entity, slot, entity)
        self.num_entities = len(scores)
        self.asked = []

    def scores(self, anchors, relations):
        self.asked += zip(anchors.tolist(), relations.tolist(), strict=True)
        return self.values[anchors, relations].clone()


def scored(facts):
    scores, true = zip(*facts, strict=True) if facts else ((), ())
    return np.array(scores, np.float32), np.array(true, bool)


def facts_of(relations, scores, true):
    facts = np.stack([relations * 0, relations, relations * 0], axis=1)
    return ScoredFacts(LabelledFacts(facts, true, {}), scores)


@given(FACTS)
def test_no_threshold_is_right_more_often_than_the_best(facts):
    found = best_threshold(*scored(facts))
    assert fact_oracles.right_about(found, facts) == fact_oracles.most_right(facts)


def test_between_two_neighbouring_scores_the_threshold_still_tells_them_apart():
    low = np.float32(1)
    high = np.nextafter(low, np.float32(2))
    found = best_threshold(np.array([low, high]), np.array([False, True]))
    assert float(low) < found < float(high)


def test_of_equally_good_thresholds_the_highest_is_taken():
    scores = np.array([4, 3, 2, 1], np.float32)
    assert best_threshold(scores, np.array([True, False, True, False])) == 3.5


def test_where_all_is_true_or_all_is_false_the_threshold_lies_just_outside():
    scores = np.array([1, 2], np.float32)
    assert best_threshold(scores, np.array([True, True])) == 0.5
    assert best_threshold(scores, np.array([False, False])) == 2.5


def test_without_any_fact_nothing_is_accepted():
    assert best_threshold(*scored([])) == np.inf


@given(st.lists(st.tuples(st.integers(0, 2), SCORES, st.booleans()), max_size=20))
def test_each_relation_has_its_own_best_threshold_and_an_unseen_one_that_of_all(rows):
    relations = np.array([relation for relation, _, _ in rows], np.int32)
    scores, true = scored([row[1:] for row in rows])
    found = best_thresholds(facts_of(relations, scores, true), 4).values
    for relation in range(4):
        mine = [row[1:] for row in rows if row[0] == relation] or [row[1:] for row in rows]
        right = fact_oracles.right_about(found[relation], mine)
        assert right == fact_oracles.most_right(mine)


def test_accuracy_counts_what_is_rightly_accepted_and_what_is_rightly_refused():
    assert accuracy(Counts(correct=3, accepted=4, relevant=5), 10) == 0.7  # 3 + (10 - 4 - 5 + 3)
    assert np.isnan(accuracy(Counts(0, 0, 0), 0))


def test_facts_of_test_are_measured_overall_and_by_relation():
    facts = facts_of(
        np.array([0, 0, 0, 1], np.int32),
        np.array([2, 1, 0, 5], np.float32),
        np.array([True, False, True, False]),
    )
    none = facts_of(np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, bool))
    names = toy.vocabulary_of(2, 3)
    found = TripleClassification.tuned(names, facts, facts).to_json()
    assert found["test"]["accuracy"] == 0.75 and found["test"]["recall"] == 0.5
    assert found["relations"]["r0"]["precision"] == 1.0
    assert found["relations"]["r1"]["precision"] is None  # nothing was accepted
    assert "r2" not in found["relations"]
    empty = TripleClassification.tuned(names, facts, none)
    assert empty.to_json()["test"]["accuracy"] is None


# Scores of given facts


@given(toy.graphs(), st.sampled_from([1, 10**6]))
def test_a_fact_has_the_score_of_its_tail_and_each_query_is_asked_once(kb, cells):
    entities, relations = kb.vocabulary.num_entities, kb.vocabulary.num_relations
    rng = np.random.default_rng(len(kb.facts))
    table = Table(rng.normal(size=(entities, relations, entities)))
    facts = rng.permutation(np.concatenate([kb.facts, kb.facts[::2]]))  # some of them twice
    found = score_facts(table, facts, cells)
    assert found.tolist() == [table.values[h, r, t].item() for h, r, t in facts.tolist()]
    assert sorted(table.asked) == sorted({(h, r) for h, r, _ in facts.tolist()})


def test_given_false_facts_that_cannot_be_judged_are_left_out_and_counted():
    benchmark = assent.build(toy.split(), removed=["hana"], seed=3)
    names = benchmark.vocabulary
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(names.num_entities, 2 * names.num_relations, names.num_entities))
    false = toy.of_names(
        toy.facts_in("ada knows rome  ada knows hana  ada eats ben  zoe knows ada  ada knows ben")
    )
    run = SimpleNamespace(benchmark=benchmark, model=Table(scores))
    found = classify_triples(run, false, toy.of_names(toy.facts_in("rome knows rome")))
    assert found.left_out["valid"] == {"unknown names": 3, "known to be true": 1}
    assert found.left_out["test"] == {"unknown names": 0, "known to be true": 0}
    assert len(found.valid.true) == len(benchmark.facts("valid")) + 1
    asked = {tuple(fact) for fact in benchmark.test.facts(names.num_relations).tolist()}
    rome, knows = names.entities.index("rome"), names.relations.index("knows")
    expected = {(scores[fact].astype(np.float32), True) for fact in asked}
    expected.add((scores[rome, knows, rome].astype(np.float32), False))
    assert set(zip(found.test.scores, found.test.true.tolist(), strict=True)) == expected


@pytest.mark.parametrize("removed", [0, 200])
def test_the_false_facts_of_codex_are_all_judged_or_left_out(data, removed):
    folder = data / "codex-s"
    if not folder.is_dir():
        pytest.skip(f"no codex-s in {data}")
    benchmark = assent.build(assent.read(folder), removed=removed)
    run = assent.train(benchmark, "distmult", changes=["model.dim=16", "train.epochs=2"])
    paths = [folder / f"{split}_negatives.txt.gz" for split in ("valid", "test")]
    found = classify_triples(run, *paths)
    for split, facts, given_false in (("valid", found.valid, 1827), ("test", found.test, 1828)):
        left = found.left_out[split]
        assert (~facts.true).sum() + sum(left.values()) == given_false
        assert left["known to be true"] == 0 and (left["unknown names"] > 0) == (removed > 0)
        assert facts.true.sum() == len(benchmark.facts(split))
        assert found.accuracy(split) <= 1
    # Accepting all and accepting nothing are among the thresholds that were tried.
    share = found.valid.true.mean()
    assert found.accuracy("valid") >= max(share, 1 - share)
    assert len(triples_grid(found, most=5).rows) == 2 + 5


def test_without_a_usable_false_fact_nothing_is_measured_and_it_says_why():
    """`1.000` of facts that are all true would look like a result."""
    relations, true = np.array([0, 0]), np.array([True, True])
    left_out = {"unknown names": 3, "known to be true": 0}
    scores = np.array([1.0, 2.0], np.float32)
    test = ScoredFacts(
        LabelledFacts(facts_of(relations, scores, true).labelled.facts, true, left_out), scores
    )
    valid = facts_of(np.array([0, 0]), scores, np.array([True, False]))
    grid = triples_grid(TripleClassification.tuned(toy.vocabulary_of(1, 1), valid, test))
    of_valid, of_test, of_relation = grid.rows
    assert of_valid[3].value is not None
    assert [cell.text for cell in (*of_test[3:], *of_relation[3:])] == [DASH] * 8
    assert grid.notes == [
        "false facts of test: left out: 3 unknown names; none is left, so nothing is measured"
    ]
