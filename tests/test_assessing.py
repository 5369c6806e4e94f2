"""From scores on valid to measured decisions on test, whatever the blocks and the threads."""

import json
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
import torch

import deciding_oracles as oracles
import toy
from assent import assessing, scoring
from assent.assessing import evaluate, tune
from assent.core.benchmark import Benchmark
from assent.scoring import score


class Random:
    """A score for every fact, the true ones a little higher; few different ones, so many ties."""

    def __init__(self, benchmark, seed=0):
        names = benchmark.vocabulary
        self.num_entities = names.num_entities
        rng = np.random.default_rng(seed)
        shape = (2 * names.num_relations, names.num_entities, names.num_entities)
        table = rng.normal(size=shape)
        truth = benchmark.truth()
        rows = np.repeat(np.arange(len(truth)), truth.num_answers)
        table[truth.relations[rows], truth.anchors[rows], truth.answers] += 2
        self.table = torch.tensor(np.round(2 * table) / 2, dtype=torch.float32)

    def scores(self, anchors, relations):
        return self.table[relations, anchors]


class Scored(NamedTuple):
    benchmark: Benchmark
    model: Random


@pytest.fixture(scope="module", params=["by-fact", "by-query"])
def scored(request):
    kb = toy.crowd(seed=5, num_entities=30, num_relations=3, facts_each=8)
    benchmark = toy.built(kb, removed=4, deal=request.param)
    return Scored(benchmark, Random(benchmark))


@pytest.fixture
def threads():
    """Leaves as many threads as there were."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def with_blocks_of(cells, patch):
    patch.setattr(scoring, "ROWS", 1)
    patch.setattr(assessing, "score", partial(score, cells=cells))


RULES = ["global", "per-relation", "paper-global", "paper-relation"]


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("rule", RULES)
def test_neither_blocks_nor_threads_change_decisions_and_measures(scored, rule, monkeypatch):
    documents, lines = [], []
    for cells, count in ((1, 1), (100, 2), (10**6, 1), (10**6, 2)):
        with_blocks_of(cells, monkeypatch)
        torch.set_num_threads(count)
        decider = tune(scored, rule)
        lines.append(decider.thresholds.values.tolist())
        documents.append(json.dumps(rounded(evaluate(scored, decider).to_json())))
    assert lines == 4 * lines[:1]
    assert documents == 4 * documents[:1]


def rounded(value):
    """Sums of probabilities are taken in another order, so that the last digits differ."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return round(value, 9) if isinstance(value, float) else value


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("split", ["valid", "test"])
def test_counts_equal_those_of_a_loop_over_all_candidates(scored, rule, split):
    benchmark, model = scored
    decider = tune(scored, rule)
    found = evaluate(scored, decider, split)
    asked = oracles.asked(score(model, benchmark.half(split), benchmark.known(split)))
    counts = found.classified.of("full")
    assert (counts.correct, counts.accepted, counts.relevant) == oracles.count(
        asked, oracles.above(decider.thresholds.values)
    )
    assert found.f1() > 0


def test_on_valid_the_global_threshold_is_the_best_and_the_papers_is_no_better(scored):
    benchmark, model = scored
    asked = oracles.asked(score(model, benchmark.valid, benchmark.known("valid")))
    best, _ = oracles.best_single(asked, oracles.f_beta())
    alone = evaluate(scored, tune(scored, "global"), "valid").f1()
    assert alone == best
    assert evaluate(scored, tune(scored, "paper-global"), "valid").f1() <= best
