"""Pairs of a relation in order: as if all were written down and sorted, whatever is kept."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import assent
import toy
from assent.core.queries import Queries, both_ways
from assent.core.scores import ScoreBlock, collect
from assent.errors import ConfigError
from assent.measuring.pairs import BestPairs, Found, PairRanking, every_head
from assent.reporting.measures import pairs_grid
from assent.scoring import score
from assent.verbs.pairs import rank_pairs
from measuring import fact_oracles


class Levels:
    """A few different scores only, so that most pairs tie."""

    def __init__(self, num_entities, num_slots, levels, seed):
        self.num_entities = num_entities
        drawn = np.random.default_rng(seed).integers(
            levels, size=(num_entities, num_slots, num_entities)
        )
        self.values = torch.tensor(drawn.astype(np.float32))

    def scores(self, anchors, relations):
        return self.values[anchors, relations].clone()

    def by_fact(self):
        return {
            tuple(place): float(self.values[tuple(place)])
            for place in np.ndindex(*self.values.shape)
        }


@given(
    toy.graphs(most_entities=7),
    st.integers(1, 12),
    st.sampled_from([1, 2, 50]),
    st.integers(0, 99),
    st.integers(1, 4),
)
def test_ranks_are_those_of_all_pairs_in_order(kb, k, levels, seed, parts):
    entities, relations = kb.vocabulary.num_entities, kb.vocabulary.num_relations
    model = Levels(entities, relations, levels, seed)
    known = {tuple(fact) for fact in kb.facts[::3].tolist()}
    true = {tuple(fact) for fact in kb.facts.tolist()} - known
    masked = Queries.grouped(*both_ways(toy.triples(known), relations))
    asked = list(every_head(toy.triples(true), entities))
    for queries in asked:
        best = BestPairs(queries, k)
        for block in score(model, queries, masked):
            for rows in np.array_split(np.arange(entities), parts):
                part = block.queries.take(rows)
                best.add(ScoreBlock(part, block.scores[rows], int(rows[0]) if len(rows) else 0))
        order = fact_oracles.pairs_in_order(
            model.by_fact(), int(queries.relations[0]), range(entities), true, known
        )
        assert best.result().ranks.tolist() == fact_oracles.true_ranks(order, true, k)
    assert [int(q.relations[0]) for q in asked] == sorted({r for _, r, _ in true})


@given(toy.crowds(splits=True), st.integers(1, 30), st.sampled_from([3, 10**6]))
def test_both_means_equal_those_of_plain_loops(kb, k, levels):
    benchmark = toy.built(kb, removed=1)
    names = benchmark.vocabulary
    size, num_relations = names.num_entities, names.num_relations
    model = Levels(size, 2 * num_relations, levels, seed=k)
    found = rank_pairs(SimpleNamespace(benchmark=benchmark, model=model), k)
    known = {tuple(f) for f in benchmark.known("test").facts(num_relations).tolist()}
    asked = {tuple(f) for f in benchmark.test.facts(num_relations).tolist()}
    true = {r: {f for f in asked if f[1] == r} for r in sorted({r for _, r, _ in asked})}
    precisions, hits, scores = {}, {}, model.by_fact()
    for r in true:
        order = fact_oracles.pairs_in_order(scores, r, range(size), asked, known)
        precisions[r] = fact_oracles.average_precision(order, true[r], k)
        hits[r] = len(fact_oracles.true_ranks(order, asked, k)) / min(k, len(true[r]))
    assert found.relations.tolist() == list(true)
    assert found.average_precision() == pytest.approx(list(precisions.values()))
    mean = fact_oracles.weighted(precisions, true, k)
    assert found.mean_average_precision() == pytest.approx(mean)
    assert found.hits_at_k() == pytest.approx(fact_oracles.weighted(hits, true, k))


def test_where_all_pairs_tie_the_true_ones_come_last():
    [queries] = every_head(toy.triples([(0, 0, 1)]), 3)
    nothing = Queries.grouped(*(np.empty(0, np.int32),) * 3)
    for k, ranks in ((8, []), (9, [9])):
        best = BestPairs(queries, k)
        collect(score(Levels(3, 1, levels=1, seed=0), queries, nothing), best)
        assert best.result().ranks.tolist() == ranks


def test_precision_is_averaged_over_the_true_pairs_that_fit():
    names = toy.vocabulary_of(9, 2)
    found = PairRanking.of(
        "test", 4, names, [Found(0, 1, np.array([2])), Found(1, 9, np.array([1, 2, 4]))]
    )
    assert found.average_precision().tolist() == [1 / 2, (1 + 1 + 3 / 4) / 4]
    assert found.mean_average_precision() == (1 / 2 + 1 + 1 + 3 / 4) / 5
    assert found.hits_at_k() == (1 + 3) / 5
    assert found.to_json()["relations"]["r1"]["hits"] == 3
    assert len(pairs_grid(found).rows) == 3


def test_without_facts_there_is_nothing_to_rank():
    found = PairRanking.of("test", 4, toy.vocabulary_of(9, 2), [])
    assert np.isnan(found.hits_at_k())
    assert found.to_json()["mean_average_precision"] is None
    assert len(pairs_grid(found).rows) == 1


def test_only_the_relations_asked_for_are_ranked_and_progress_is_told():
    benchmark = assent.build(toy.split(), removed=1, seed=3)
    names, told = benchmark.vocabulary, []
    model = Levels(names.num_entities, 2 * names.num_relations, 5, seed=0)
    run = SimpleNamespace(benchmark=benchmark, model=model)
    found = rank_pairs(
        run, 3, "valid", relations=["lives_in", "born_in"], progress=lambda *now: told.append(now)
    )
    asked = {names.relations[r] for r in benchmark.facts("valid")[:, 1]}
    assert set(found.to_json()["relations"]) == asked & {"lives_in", "born_in"}
    assert told[-1] == (len(found.relations) * names.num_entities,) * 2
    with pytest.raises(ConfigError, match="did you mean 'lives_in'"):
        rank_pairs(run, relations=["live_in"])
    with pytest.raises(ConfigError, match="choose from 1 to 1,000,000, found 0"):
        rank_pairs(run, k=0)
