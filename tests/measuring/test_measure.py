"""Every measure of the table keeps the contract: it adds blocks and gives a result."""

import json

import numpy as np
import pytest

import toy
from assent.core.scores import collect
from assent.core.thresholds import Thresholds
from assent.measuring.evaluation import MEASURES
from assent.measuring.measure import Decided
from assent.measuring.plain import plain
from assent.scoring import score
from score_blocks import shortlist


class Random:
    """Scores that only the query decides."""

    def __init__(self, num_entities):
        self.num_entities = num_entities

    def scores(self, anchors, relations):
        import torch

        keys = (anchors * 7 + relations * 13)[:, None] + torch.arange(self.num_entities)
        return torch.sin(keys.float())


@pytest.fixture(scope="module")
def made():
    benchmark = toy.built(toy.crowd(1, 24, 3, 6), removed=2)
    scorer = Random(benchmark.vocabulary.num_entities)
    return benchmark, list(score(scorer, benchmark.test, benchmark.known("test"), cells=1))


@pytest.mark.parametrize("name", MEASURES)
def test_results_are_json_and_numbers_and_do_not_depend_on_other_measures(name, made):
    benchmark, blocks = made
    measure = MEASURES[name](benchmark, "test")
    collect(blocks, measure)
    kept = shortlist(blocks)
    accepted = kept.accepted(Thresholds.single(0.5, benchmark.vocabulary.num_slots))
    found = measure.result(Decided("test", "global", benchmark.vocabulary, kept, accepted))
    document = plain(found.to_json())
    assert document and json.loads(json.dumps(document, allow_nan=False)) == document
    lines = found.lines()
    assert lines and all(type(value) is float for value in lines.values())
    assert all(np.isfinite(value) for value in lines.values())
