"""Scores as a stream: every query once, what is known masked, whatever the size of a block."""

import numpy as np
import pytest
import torch

import toy
from assent.building.recipe import build
from assent.core.queries import Queries
from assent.scoring import score


class Table:
    """Scores that anyone can recompute: 100 x relation + 10 x anchor + entity."""

    def __init__(self, num_entities):
        self.num_entities = num_entities

    def scores(self, anchors, relations):
        return (100 * relations + 10 * anchors)[:, None] + torch.arange(self.num_entities).float()


@pytest.fixture(params=["by-fact", "by-query"])
def benchmark(request):
    return build(toy.split(), removed=1, deal=request.param, seed=3)


@pytest.mark.parametrize("cells", [1, 40, 10**6])
def test_each_candidate_has_its_score_and_known_answers_have_none(benchmark, cells):
    entities = benchmark.vocabulary.num_entities
    known = benchmark.known("test")
    masked = {
        (int(a), int(r)): set(known.answers[known.offsets[q] : known.offsets[q + 1]].tolist())
        for q, (a, r) in enumerate(zip(known.anchors, known.relations, strict=True))
    }
    seen = 0
    for part in score(Table(entities), benchmark.test, known, cells):
        for row, (a, r) in enumerate(
            zip(part.queries.anchors, part.queries.relations, strict=True)
        ):
            for entity in range(entities):
                is_known = entity in masked.get((int(a), int(r)), ())
                expected = -np.inf if is_known else 100 * r + 10 * a + entity
                assert part.scores[row, entity] == expected
            seen += 1
    assert seen == len(benchmark.test)


def test_without_known_answers_nothing_is_masked(benchmark):
    none = Queries.grouped(*(np.empty(0, np.int32),) * 3)
    for part in score(Table(benchmark.vocabulary.num_entities), benchmark.test, none):
        assert np.isfinite(part.scores).all()
