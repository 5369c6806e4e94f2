"""What a judge is told of a candidate, beside loops over sets of tuples."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import judging_oracles as oracles
import toy
from assent.core.arrays import frozen
from assent.core.queries import Queries
from assent.core.scores import collect
from assent.deciding.features import FEATURES, Known, features
from assent.deciding.graph import Graph
from assent.deciding.shortlisting import Highest
from assent.models import create
from assent.scoring import score, score_pairs
from assent.verbs.deciders import rule_columns, rules_of


def case(seed, others=0):
    """A benchmark and untrained models of it."""
    benchmark = toy.built(toy.crowd(seed, num_entities=24, num_relations=3, facts_each=5))
    torch.manual_seed(seed)
    names = benchmark.vocabulary
    sizes = names.num_entities, names.num_relations
    models = [create("complex", *sizes, {"dim": 8, "init_scale": 1.0}) for _ in range(1 + others)]
    return benchmark, models


def known_of(benchmark, queries, models, per_answer=4):
    highest = Highest(queries, benchmark.vocabulary.num_slots, per_answer, spread=True)
    collect(score(models[0], queries, benchmark.known("valid")), highest)
    shortlist = highest.result()
    pair_scores = [partial(score_pairs, model) for model in models]
    rules = rule_columns(rules_of(benchmark))
    return shortlist, features(Known(shortlist, Graph(benchmark), pair_scores, rules))


@given(st.integers(0, 1000))
def test_features_are_what_loops_find(seed):
    benchmark, models = case(seed)
    shortlist, known = known_of(benchmark, benchmark.valid, models)
    num_relations = benchmark.vocabulary.num_relations
    queries, train = benchmark.valid, [tuple(fact) for fact in benchmark.train.tolist()]
    blocks = list(score(models[0], queries, benchmark.known("valid")))
    rows = np.concatenate([block.scores for block in blocks])
    for place in np.random.default_rng(seed).permutation(len(shortlist))[:8]:
        row, entity = int(shortlist.rows[place]), int(shortlist.entities[place])
        asked = int(queries.anchors[row]), int(queries.relations[row]), entity
        candidates = {e: float(s) for e, s in enumerate(rows[row]) if np.isfinite(s)}
        expected = oracles.of_scores(candidates, entity)
        expected |= oracles.of_graph(train, num_relations, *asked)
        found = dict(zip(known.names, known.values[place], strict=True))
        for name, value in expected.items():
            assert found[name] == pytest.approx(value, rel=1e-4, abs=1e-4, nan_ok=True), name


def test_candidates_that_score_the_same_have_the_same_place_among_the_others():
    benchmark, models = case(1)
    with torch.no_grad():
        models[0].entities[:] = models[0].entities.round()
        models[0].relations[:] = models[0].relations.round()
    shortlist, known = known_of(benchmark, benchmark.valid, models, per_answer=50)
    of_scores = known.values[:, [known.names.index(n) for n in ("rank", "gap_above", "mass_above")]]
    places = {}
    for row, mine, values in zip(shortlist.rows, shortlist.scores, of_scores, strict=True):
        places.setdefault((int(row), float(mine)), set()).add(str(values))
    assert len(places) < len(shortlist), "no ties"
    assert all(len(values) == 1 for values in places.values())


def test_no_feature_knows_the_answers():
    benchmark, models = case(3, others=1)
    shortlist, known = known_of(benchmark, benchmark.valid, models)
    asked, rng = benchmark.valid, np.random.default_rng(0)
    shuffled = Queries(
        asked.anchors,
        asked.relations,
        asked.offsets,
        frozen(rng.permutation(asked.answers)),
        frozen(rng.permutation(asked.subsets)),
    )
    other, as_known = known_of(benchmark, shuffled, models)
    assert not np.array_equal(other.right, shortlist.right)
    assert np.array_equal(as_known.values, known.values, equal_nan=True)


def test_the_query_turned_round_is_asked_from_the_entity():
    benchmark, models = case(5, others=1)
    shortlist, known = known_of(benchmark, benchmark.valid, models)
    num_relations = benchmark.vocabulary.num_relations
    for name, model in (("reverse", models[0]), ("reverse_1", models[1])):
        for place in range(0, len(shortlist), 7):
            slot = (int(shortlist.relations[place]) + num_relations) % (2 * num_relations)
            entity = torch.tensor([int(shortlist.entities[place])])
            scores = model.scores(entity, torch.tensor([slot]))[0]
            expected = float(scores[int(benchmark.valid.anchors[shortlist.rows[place]])])
            assert known.values[place, known.names.index(name)] == pytest.approx(expected, abs=1e-4)


def test_other_models_are_heard_by_score_and_mean():
    benchmark, models = case(7, others=2)
    _, known = known_of(benchmark, benchmark.valid, models)
    columns = dict(zip(known.names, known.values.T, strict=True))
    mean = (columns["score"] + columns["score_1"] + columns["score_2"]) / 3
    np.testing.assert_allclose(columns["mean"], mean, rtol=1e-5, atol=1e-5)


def test_a_feature_in_the_table_is_a_column_for_every_candidate(monkeypatch):
    benchmark, models = case(2)
    monkeypatch.setitem(FEATURES, "mine", lambda known: {"row": known.shortlist.rows})
    shortlist, known = known_of(benchmark, benchmark.valid, models)
    assert known.only(["row"]).values[:, 0].tolist() == shortlist.rows.tolist()


@given(st.integers(0, 1000))
def test_the_place_by_all_rules_is_what_loops_find(seed):
    benchmark, models = case(seed)
    shortlist, known = known_of(benchmark, benchmark.valid, models)
    columns = dict(zip(known.names, known.values.T.tolist(), strict=True))
    for place, row in enumerate(shortlist.rows.tolist()):
        query = np.flatnonzero(shortlist.rows == row).tolist()
        said = {other: columns["rule_all"][other] for other in query}
        for name, expected in oracles.of_all_rules(said, place).items():
            assert columns[name][place] == pytest.approx(expected, nan_ok=True), name
