"""Sample queries: the best candidates, and the threshold as a line between them."""

import numpy as np
import torch

import toy
from assent.building.recipe import build
from assent.core.decider import Decider
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import Vocabulary
from assent.reproducing.samples import NAMES, Sample, asked_samples, readable, sample_table
from assent.verbs.runs import Run


class Counted:
    """Scores an entity by its id: the last is the best."""

    def __init__(self, num_entities):
        self.num_entities = num_entities

    def scores(self, anchors, relations):
        return torch.arange(self.num_entities, dtype=torch.float32).repeat(len(anchors), 1) - 30


def asked(line):
    benchmark = build(toy.crowd(seed=1, num_entities=40, num_relations=2, facts_each=8))
    names, test = benchmark.vocabulary, benchmark.test
    row = int(np.flatnonzero(test.has_answers)[0])
    side, relation = divmod(int(test.relations[row]), names.num_relations)
    anchor = names.entities[test.anchors[row]]
    sample = Sample("who?", "C", side, anchor, names.relations[relation])
    stranger = Sample("what?", "F", 0, "nobody", names.relations[relation])
    run = Run(benchmark, None, Counted(names.num_entities), None)
    decider = Decider.of_thresholds("global", "f1", Thresholds.single(line, names.num_slots))
    return benchmark, asked_samples(run, {"global": decider}, (sample, stranger))


def column(said):
    table = sample_table({"here": (said, "global")}, {})
    return [row.strip("| ") for row in table.splitlines()[2:]]


def test_a_sample_that_test_does_not_ask_is_left_out():
    _, found = asked(0.0)
    assert [said["query"] for said in found] == ["who?"]


def test_the_line_stands_between_what_is_accepted_and_what_is_not():
    benchmark, (said,) = asked(-3.5)
    last = benchmark.vocabulary.num_entities - 1
    above = sum(entity - 30 > -3.5 for entity in range(last + 1))
    cells = column(said)
    assert 0 < above < 10 and said["above"]["global"] == above
    assert cells[above] == "— th = 0.029 —" and len(cells) == 11
    assert cells[0].strip("*") == benchmark.vocabulary.entities[last]


def test_a_line_below_all_that_is_shown_says_how_many_more_are_accepted():
    benchmark, (said,) = asked(-np.inf)
    more = benchmark.vocabulary.num_entities - 10
    assert column(said)[-2:] == [f"… {more} more", "— th = 0 —"]
    assert column(asked(np.inf)[1][0])[0] == "— th = 1 —"


def test_answers_are_bold_and_what_train_has_is_italic():
    candidate = {"probability": 0.5, "answer": False, "known": False}
    said = {
        "best": [
            {**candidate, "entity": "a", "answer": True},
            {**candidate, "entity": "b", "known": True},
            {**candidate, "entity": "c|d"},
        ],
        "above": {"global": 0},
        "thresholds": {"global": 1.0},
    }
    assert column(said)[1:] == ["**a**", "*b*", "c\\|d"]


def test_names_are_the_papers_then_those_of_the_graph_beside_it(tmp_path):
    vocabulary = Vocabulary(("/m/02hrh1q", "/m/1", "/m/2"), ("r",))
    assert readable(vocabulary, tmp_path)["/m/02hrh1q"] == "actor"
    (tmp_path / "fb15k-237").mkdir()
    labels = "/m/02hrh1q\tActor-GB\n/m/1\tOne\n"
    (tmp_path / "fb15k-237" / "entity_names.tsv").write_text(labels, encoding="utf-8")
    found = readable(vocabulary, tmp_path)
    assert [found[name] for name in vocabulary.entities] == ["actor", "One", "/m/2"]
    assert len(NAMES) == 30
