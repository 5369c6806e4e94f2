"""The paper's sample queries: found in test, answered, and kept as JSON."""

import json

import numpy as np
import torch

import toy
from assent.building.recipe import build
from assent.core.decider import Decider
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import SIDES, Vocabulary
from assent.reporting.sample_queries import best_candidates
from assent.reproducing.measuring import readable, sampled
from assent.reproducing.paper import NAMES, Sample
from assent.reproducing.results import Result
from assent.verbs.runs import Run


class Counted:
    """Scores an entity by its id: the last is the best."""

    def __init__(self, num_entities):
        self.num_entities = num_entities

    def scores(self, anchors, relations):
        return torch.arange(self.num_entities, dtype=torch.float32).repeat(len(anchors), 1) - 30


def asked(threshold):
    """What is said to a sample that test has, and to one that it has not."""
    benchmark = build(toy.crowd(seed=1, num_entities=40, num_relations=2, facts_each=8))
    names, test = benchmark.vocabulary, benchmark.test
    row = int(np.flatnonzero(test.has_answers)[0])
    side, relation = divmod(int(test.relations[row]), names.num_relations)
    anchor = names.entities[test.anchors[row]]
    sample = Sample("who?", "C", SIDES[side], anchor, names.relations[relation])
    stranger = Sample("what?", "F", "tail", "nobody", names.relations[relation])
    run = Run(benchmark, None, Counted(names.num_entities), None)
    decider = Decider.of_thresholds("global", "f1", Thresholds.single(threshold, names.num_slots))
    return run, decider, row, sampled(run, {"global": decider}, (sample, stranger))


def test_a_sample_that_test_does_not_ask_is_left_out():
    run, _, row, found = asked(0.0)
    test = run.benchmark.test
    assert [said["query"] for said in found] == ["who?"]
    assert found[0]["answers"] == test.answers[test.offsets[row] : test.offsets[row + 1]].tolist()


def test_the_candidates_of_a_sample_are_those_of_the_report():
    run, decider, row, found = asked(-3.5)
    kept = json.loads(json.dumps(found))
    said = Result("distmult-8", {"samples": kept}).candidates(0, "global")
    (expected,) = best_candidates(run.model, decider, run.benchmark, [row])
    assert said == expected and 0 < said.above < 10
    assert said.best[0].entity == run.benchmark.vocabulary.num_entities - 1


def test_names_are_the_papers_then_those_of_the_graph_beside_it(tmp_path):
    vocabulary = Vocabulary(("/m/02hrh1q", "/m/1", "/m/2"), ("r",))
    assert readable(vocabulary, tmp_path) == ["actor", "/m/1", "/m/2"]
    (tmp_path / "fb15k-237").mkdir()
    labels = "/m/02hrh1q\tActor-GB\n/m/1\tOne\n"
    (tmp_path / "fb15k-237" / "entity_names.tsv").write_text(labels, encoding="utf-8")
    assert readable(vocabulary, tmp_path) == ["actor", "One", "/m/2"]
    assert len(NAMES) == 30
