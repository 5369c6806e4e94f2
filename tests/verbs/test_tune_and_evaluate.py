"""From scores on valid to measured decisions on test, whatever the blocks and the threads."""

import json
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
import torch

import deciding_oracles as oracles
import toy
from assent import scoring
from assent.core.benchmark import Benchmark
from assent.errors import ConfigError
from assent.scoring import score
from assent.verbs.deciders import load_decider, save_decider
from assent.verbs.evaluate import evaluate
from assent.verbs.tune import tune


class Random:
    """A score for every fact, the true ones a little higher; few different ones, so many ties."""

    def __init__(self, benchmark, seed=0, lift=2):
        names = benchmark.vocabulary
        self.num_entities = names.num_entities
        rng = np.random.default_rng(seed)
        shape = (2 * names.num_relations, names.num_entities, names.num_entities)
        table = rng.normal(size=shape)
        truth = benchmark.truth()
        rows = np.repeat(np.arange(len(truth)), truth.num_answers)
        table[truth.relations[rows], truth.anchors[rows], truth.answers] += lift
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
    patch.setattr(scoring, "score", partial(score, cells=cells))


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
    asked = oracles.asked(score(model, benchmark.queries(split), benchmark.known(split)))
    counts = found.classified.of("full")
    assert (counts.correct, counts.accepted, counts.relevant) == oracles.count(
        asked, oracles.above(decider.thresholds.values)
    )
    assert found.f1() > 0


def test_a_promise_goes_from_valid_to_decisions_and_comes_back_from_disk(scored, tmp_path):
    good = Scored(scored.benchmark, Random(scored.benchmark, lift=9))
    decider = tune(good, "precision", precision=0.25, confidence=0.6)
    found = evaluate(good, decider)
    assert found.classified.of("full").accepted > 0
    path = save_decider(decider, tmp_path / "decider.json", scored.benchmark)
    again = load_decider(path, good)
    assert again.found == decider.found and again.rule == "precision"
    assert evaluate(good, again).to_json() == found.to_json()


@pytest.mark.parametrize("split", ["valid", "test"])
def test_calibrated_probabilities_are_measured_over_every_candidate(scored, split):
    benchmark, model = scored
    decider = tune(scored, "global")
    found = evaluate(scored, decider, split)
    asked = oracles.asked(score(model, benchmark.queries(split), benchmark.known(split)))
    stated, right = [], []
    for query in asked:
        for entity, value in query.scores.items():
            stated.append(decider.probabilities.of([value], [query.relation])[0])
            right.append(entity in query.answers)
    stated, right = np.array(stated), np.array(right)
    assert found.calibrated.candidates.sum() == len(stated)
    assert found.calibrated.brier() == pytest.approx(np.mean((stated - right) ** 2))
    assert found.calibrated.means() == pytest.approx((stated.mean(), right.mean()))
    bins = np.minimum((stated * 20).astype(int), 19)
    gaps = [abs((stated - right)[bins == place].sum()) for place in range(20)]
    assert found.calibrated.error() == pytest.approx(sum(gaps) / len(stated))


def test_on_valid_calibration_brings_probabilities_nearer_to_the_truth(scored):
    found = evaluate(scored, tune(scored, "per-relation"), "valid")
    raw, mine = found.accepted_calibration
    assert found.calibrated.brier() < found.calibration.brier()
    assert mine.means()[1] == raw.means()[1] == found.to_json()["calibrated"]["accepted"]["true"]


def test_the_papers_rules_state_no_probabilities(scored):
    assert evaluate(scored, tune(scored, "paper-global")).to_json()["calibrated"] is None


@pytest.mark.parametrize(
    ("words", "complaint"),
    [({"rule": "global", "precision": 0.9}, "global: promises nothing; precision"),
     ({"rule": "precision", "objective": "f2"}, "no other objective"),
     ({"rule": "precision", "precision": 2}, "precision 2; choose from 0.05")],
)  # fmt: skip
def test_promises_belong_to_their_rule(scored, words, complaint):
    with pytest.raises(ConfigError, match=complaint):
        tune(scored, **words)


def test_on_valid_the_global_threshold_is_the_best_and_the_papers_is_no_better(scored):
    benchmark, model = scored
    asked = oracles.asked(score(model, benchmark.valid, benchmark.known("valid")))
    best, _ = oracles.best_single(asked, oracles.f_beta())
    alone = evaluate(scored, tune(scored, "global"), "valid").f1()
    assert alone == best
    assert evaluate(scored, tune(scored, "paper-global"), "valid").f1() <= best
