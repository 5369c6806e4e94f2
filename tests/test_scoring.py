"""Scores as a stream: every query once, what is known masked, whatever the size of a block."""

import numpy as np
import pytest
import torch

import toy
from assent import scoring
from assent.building.recipe import build
from assent.core.queries import Queries
from assent.errors import DataError
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


@pytest.fixture(params=[1, 40, 10**6], ids="cells={}".format)
def cells(request, monkeypatch):
    monkeypatch.setattr(scoring, "ROWS", 1)  # toys have no more queries than a block has
    return request.param


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


def test_each_block_knows_the_place_of_its_first_query(benchmark, cells):
    entities, asked = benchmark.vocabulary.num_entities, benchmark.test
    place = 0
    for part in score(Table(entities), asked, benchmark.known("test"), cells):
        rows = np.arange(place, place + len(part.queries))
        mine = asked.take(rows)
        assert part.first == place
        for name in ("anchors", "relations", "offsets", "answers", "subsets"):
            assert np.array_equal(getattr(part.queries, name), getattr(mine, name))
        assert len(rows) <= max(1, cells // entities)
        place += len(rows)
    assert place == len(asked)


def test_a_block_has_many_rows_even_of_a_large_table(benchmark):
    entities = benchmark.vocabulary.num_entities
    sizes = [
        len(part.queries)
        for part in score(Table(entities), benchmark.test, benchmark.known("test"), 1)
    ]
    assert max(sizes) == min(scoring.ROWS, len(benchmark.test))


def test_without_known_answers_nothing_is_masked(benchmark):
    none = Queries.grouped(*(np.empty(0, np.int32),) * 3)
    for part in score(Table(benchmark.vocabulary.num_entities), benchmark.test, none):
        assert np.isfinite(part.scores).all()


def test_no_queries_have_no_blocks(benchmark):
    nothing = benchmark.test.take([])
    known = benchmark.known("test")
    assert list(score(Table(benchmark.vocabulary.num_entities), nothing, known)) == []


def test_scores_of_too_few_entities_are_refused_before_anything_is_masked(benchmark):
    class Short(Table):
        def scores(self, anchors, relations):
            return super().scores(anchors, relations)[:, 1:]

    entities = benchmark.vocabulary.num_entities
    with pytest.raises(DataError, match=f"expected .*{entities}"):
        next(score(Short(entities), benchmark.test, benchmark.known("test")))
