"""Popularity gives every entity the log-odds of the share of queries that it answers."""

import math

import torch
from hypothesis import given

import oracles
import toy
from assent.adapters.popularity import Popularity
from assent.core.benchmark import Benchmark
from assent.core.queries import Queries, Subset
from assent.core.vocabulary import SIDES


@given(toy.graphs(most_entities=5, most_relations=2, most_facts=10))
def test_scores_are_log_odds_of_answers_among_queries(kb):
    names, none = kb.vocabulary, Queries.empty([], [], Subset.COMPLETE)
    scorer = Popularity(Benchmark(names, kb.facts, none, none, masks_other_split=False))
    answers = oracles.grouped(kb.facts.tolist())
    slots = list(range(names.num_slots))
    found = scorer.scores(torch.zeros(len(slots), dtype=torch.int64), torch.tensor(slots))
    for slot in slots:
        side, relation = SIDES[slot // names.num_relations], slot % names.num_relations
        mine = [each for query, each in answers.items() if query[::2] == (side, relation)]
        for entity in range(names.num_entities):
            times = sum(entity in each for each in mine)
            expected = math.log((times + 0.5) / (len(mine) - times + 0.5))
            assert math.isclose(found[slot, entity], expected, rel_tol=1e-5, abs_tol=1e-6)
