"""What a training may stop on is measured on valid, and on nothing of test."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

import toy
from assent.models import create
from assent.training.settings import FEWEST, SCORES, TrainSettings, num_evaluated
from assent.verbs.stopping import STOPS, asked_of, evenly, valid_mrr


@pytest.fixture
def benchmark():
    return toy.built(toy.crowd(0, num_entities=40, num_relations=3, facts_each=6))


@pytest.fixture
def model(benchmark):
    names = benchmark.vocabulary
    torch.manual_seed(0)
    return create("distmult", names.num_entities, names.num_relations, {"dim": 8}).eval()


def by_hand(benchmark, model, asked=None):
    """The mean of 1 / rank, one answer after another; facts of train and valid are no rivals."""
    relations = benchmark.vocabulary.num_relations
    known = {*map(tuple, benchmark.train.tolist()), *map(tuple, benchmark.facts("valid").tolist())}
    asked, gains = asked or benchmark.valid, []
    for query, (anchor, slot) in enumerate(zip(asked.anchors, asked.relations, strict=True)):
        scores = model.scores(torch.tensor([int(anchor)]), torch.tensor([int(slot)]))[0].tolist()
        for answer in asked.answers[asked.offsets[query] : asked.offsets[query + 1]]:
            rivals = [
                scores[entity]
                for entity in range(benchmark.vocabulary.num_entities)
                if entity != answer
                and ((entity, slot - relations, anchor) if slot >= relations
                     else (anchor, slot, entity)) not in known
            ]  # fmt: skip
            higher = sum(rival > scores[answer] for rival in rivals)
            equal = sum(rival == scores[answer] for rival in rivals)
            gains.append(1 / (1 + higher + equal / 2))
    return sum(gains) / len(gains)


def test_mrr_has_no_answer_of_train_or_valid_as_a_rival(benchmark, model):
    plain = replace(benchmark, masks_other_split=False)
    with torch.no_grad():
        assert valid_mrr(plain)(model) == pytest.approx(by_hand(plain, model), rel=1e-12)
    assert (plain.valid.num_answers > 1).any()


def test_mrr_does_not_look_at_test(benchmark, model):
    plain = replace(benchmark, masks_other_split=False)
    other = replace(plain, test=plain.test.take(plain.test.anchors < 0))
    with torch.no_grad():
        assert valid_mrr(plain)(model) == valid_mrr(other)(model)


@pytest.mark.parametrize("measure", ["f1", "dev-loss"])
def test_some_queries_of_valid_are_measured_as_if_there_were_no_others(benchmark, model, measure):
    asked = asked_of(benchmark, TrainSettings(evaluate_queries=7))
    assert len(asked) == 7 < len(benchmark.valid)
    assert STOPS[measure](benchmark, asked)(model) == pytest.approx(
        STOPS[measure](replace(benchmark, valid=asked), None)(model), rel=1e-12
    )


def test_the_mrr_of_some_queries_has_no_answer_of_the_others_as_a_rival(benchmark, model):
    plain = replace(benchmark, masks_other_split=False)
    asked = asked_of(plain, TrainSettings(evaluate_queries=9))
    with torch.no_grad():
        found = valid_mrr(plain, asked)(model)
        assert found == pytest.approx(by_hand(plain, model, asked), rel=1e-12)


def test_an_evaluation_asks_all_unless_there_are_millions_of_entities(benchmark):
    plain, few = TrainSettings(), TrainSettings(evaluate_queries=40)
    assert asked_of(benchmark, plain) is benchmark.valid
    assert num_evaluated(plain, 40_000, 40_000) == 40_000
    assert num_evaluated(plain, 40_000, 4_600_000) == SCORES // 4_600_000 == 2173
    assert num_evaluated(plain, 40_000, 10**9) == FEWEST
    assert num_evaluated(few, 40_000, 10**9) == 40
    assert num_evaluated(few, 30, 10**9) == 30


@pytest.mark.parametrize(("total", "count"), [(9, 3), (10, 3), (10, 10), (5, 0), (0, 0), (7, 1)])
def test_some_of_all_lie_as_far_from_each_other_as_can_be(total, count):
    places = evenly(total, count).tolist()
    assert len(set(places)) == len(places) == count
    gaps = [b - a for a, b in pairwise(places)]
    assert all(0 <= place < total for place in places) and max(gaps, default=0) <= (
        min(gaps, default=0) + 1
    )
