"""What a training may stop on is measured on valid, and on nothing of test."""

from dataclasses import replace

import pytest
import torch

import toy
from assent.models import create
from assent.verbs.train import valid_mrr


@pytest.fixture
def benchmark():
    return toy.built(toy.crowd(0, num_entities=40, num_relations=3, facts_each=6))


@pytest.fixture
def model(benchmark):
    names = benchmark.vocabulary
    torch.manual_seed(0)
    return create("distmult", names.num_entities, names.num_relations, {"dim": 8}).eval()


def by_hand(benchmark, model):
    """The mean of 1 / rank, one answer after another; facts of train and valid are no rivals."""
    relations = benchmark.vocabulary.num_relations
    known = {*map(tuple, benchmark.train.tolist()), *map(tuple, benchmark.facts("valid").tolist())}
    asked, gains = benchmark.valid, []
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
