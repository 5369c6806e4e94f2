"""A judge completes a graph: what it looks at, what it is told, and what it promises."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import expit, logit

import assent
import toy
from assent.core.thresholds import Thresholds
from assent.deciding.judge import folds_of
from assent.verbs.deciders import rule_columns, rules_of
from completing.worlds import as_sets
from completing_oracles import facts_known, new_facts
from judging_oracles import of_all_rules, of_graph, of_scores

QUICK = ("model.dim=16", "train.epochs=30", "train.batch_size=32", "train.threads=1")
REVIEW_ABOVE = 0.2


def trained(folder, people):
    (folder / "graph.ttl").write_text(toy.turtle(people), encoding="utf-8")
    benchmark = assent.build(assent.read(folder / "graph.ttl"), removed=0, seed=1)
    return assent.train(benchmark, "complex", changes=QUICK)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("user"), people=40)


@pytest.fixture(scope="module")
def judge(run):
    return assent.tune(run, "judge")


def probabilities(run, judge):
    """What the judge says to each candidate (slot, anchor, entity); -1: it does not look at it."""
    names = run.benchmark.vocabulary
    count, entities = names.num_relations, names.num_entities
    known, train = facts_known(run.benchmark), run.benchmark.train.tolist()

    def scored(slot):
        return run.model.scores(torch.arange(entities), torch.full((entities,), slot)).numpy()

    told = rule_columns(rules_of(run.benchmark))  # tests/rules has their slow twin

    def fired_for(slot):
        anchors, asked_for = (ids.ravel().astype(np.int32) for ids in np.indices((entities,) * 2))
        found = told(anchors, np.full_like(anchors, slot), asked_for)
        return {name: column.reshape(entities, entities) for name, column in found.items()}

    fired = [fired_for(slot) for slot in range(2 * count)]
    given = np.stack([scored(slot) for slot in range(2 * count)])
    said = np.full((2 * count, entities, entities), -1.0)
    for slot in range(2 * count):
        inverse = (slot + count) % (2 * count)
        for anchor in range(entities):
            scores = {}
            for entity in range(entities):
                fact = (anchor, slot, entity) if slot < count else (entity, slot - count, anchor)
                if fact not in known:
                    scores[entity] = float(given[slot, anchor, entity])
            floor = judge.floors.values[slot]
            listed = [entity for entity, score in scores.items() if score > floor]
            by_rules = {entity: float(fired[slot]["rule_all"][anchor, entity]) for entity in listed}
            for entity in listed:
                told = {
                    **of_scores(scores, entity),
                    **of_graph(train, count, anchor, slot, entity),
                    "reverse": given[inverse, entity, anchor],
                    **{name: column[anchor, entity] for name, column in fired[slot].items()},
                    **of_all_rules(by_rules, entity),
                }
                row = np.array([[told[name] for name in judge.rescorer.names]])
                fold = folds_of(np.array([slot]), np.array([anchor]))
                said[slot, anchor, entity] = expit(judge.rescorer.forest.logits(row, fold)[0])
    return said


def test_new_facts_are_those_of_slow_loops(run, judge):
    found = assent.complete(
        run, decider=judge, review_above=REVIEW_ABOVE, functional=False, symmetric=False
    )
    said = probabilities(run, judge)
    scores = np.where(said < 0, -np.inf, logit(np.clip(said, 1e-12, 1 - 1e-12)))
    expected = new_facts(run.benchmark, scores, judge.thresholds.values, REVIEW_ABOVE)
    mine = as_sets(found.facts)
    assert mine.keys() == expected.keys()
    assert any(accepted for accepted, *_ in mine.values())
    for fact, (accepted, probability, score, threshold, sides) in mine.items():
        assert (accepted, sides) == (expected[fact][0], expected[fact][4])
        assert probability == pytest.approx(expected[fact][1], abs=1e-6)
        assert score == pytest.approx(logit(probability), abs=1e-4)
        assert threshold == judge.thresholds.values[0]


def test_without_review_nobody_is_asked_about_relations_that_accept_nothing(run, judge):
    thresholds = judge.thresholds.values.copy()
    thresholds[[1, 1 + len(thresholds) // 2]] = np.inf  # one relation, both ways
    closed = replace(judge, thresholds=Thresholds.of(thresholds))
    found = assent.complete(run, decider=closed)
    assert not (found.facts.facts[:, 1] == 1).any()
    assert found.outcomes[1].queries == 0 < found.outcomes[0].queries
    reviewed = assent.complete(run, decider=closed, review_above=REVIEW_ABOVE)
    assert reviewed.outcomes[1].queries > 0


def test_a_judge_promises_what_was_right_out_of_fold(tmp_path):
    run = trained(tmp_path, people=300)
    judge = assent.tune(run, "judge", precision=0.05, confidence=0.5)
    promise = judge.found["promise"]
    assert judge.objective == "precision=0.05 with confidence 0.5"
    assert promise["alone"] + promise["pooled"] == np.isfinite(judge.thresholds.values).sum() > 0
    assert promise["correct"] >= 0.05 * promise["accepted"] > 0
    found = assent.complete(run, decider=judge)
    assert found.promises
    assert len(found) and (found.facts.expected >= 0.05).all()


def test_a_promise_takes_no_other_objective(run):
    with pytest.raises(assent.AssentError, match="no other objective"):
        assent.tune(run, "judge", "f2", precision=0.9)
