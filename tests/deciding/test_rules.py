"""Rules find the best thresholds there are: no other does better, by trying all."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deciding_oracles as oracles
import toy
from assent.core.decider import Decider
from assent.core.scores import collect
from assent.core.thresholds import Thresholds
from assent.deciding.curves import best_single
from assent.deciding.objectives import AtLeast, FBeta
from assent.deciding.rules import RULES, best_together
from assent.deciding.shortlisting import Highest
from assent.deciding.tuning import Tuning
from assent.errors import ConfigError
from score_blocks import ANY, NUM_SLOTS, block, blocks, joined, queries_of, shortlist

BETAS = st.sampled_from([0.5, 1.0, 2.0])
AIMS = [
    *((FBeta(beta), oracles.f_beta(beta)) for beta in (0.5, 1.0, 2.0)),
    *(
        (AtLeast(metric, share), oracles.at_least(metric, share))
        for metric in ("precision", "recall")
        for share in (0.25, 0.5, 1.0)
    ),
]


@given(blocks(ANY))
def test_global_is_the_best_of_all_single_thresholds(made):
    queries, kept = oracles.asked(made), shortlist(made)
    for aim, value in AIMS:
        threshold = np.full(NUM_SLOTS, best_single(kept, aim))
        best, least = oracles.best_single(queries, value)
        if best > 0:
            assert oracles.count(queries, oracles.above(threshold)) == least
        else:
            assert (threshold == np.inf).all()


@given(blocks(most_entities=5), BETAS)
def test_per_relation_is_the_best_of_all_combinations_for_all_relations_together(made, beta):
    queries, value = oracles.asked(made), oracles.f_beta(beta)
    found = best_together(shortlist(made), FBeta(beta), shrink=0.0)[0]
    assert value(oracles.count(queries, oracles.above(found))) == oracles.best_together(
        queries, value
    )


@given(blocks(most_queries=4, levels=ANY))
def test_per_relation_is_the_best_whatever_the_scores(made):
    queries, value = oracles.asked(made), oracles.f_beta()
    found = best_together(shortlist(made), FBeta(), shrink=0.0)[0]
    assert value(oracles.count(queries, oracles.above(found))) == oracles.best_together(
        queries, value
    )


@given(blocks(most_entities=8), st.sampled_from([2, 4]))
def test_what_is_forgotten_would_not_have_been_accepted_where_f1_is_high_enough(made, per_answer):
    queries, value = oracles.asked(made), oracles.f_beta()
    collector = Highest(queries_of(made), NUM_SLOTS, per_answer)
    collector.most[-1] = max(1, per_answer * len(queries_of(made).answers))
    collect(made, collector)
    kept = collector.result()
    for found, best in (
        (np.full(NUM_SLOTS, best_single(kept, FBeta())), oracles.best_single(queries, value)[0]),
        (best_together(kept, FBeta(), shrink=0.0)[0], oracles.best_together(queries, value)),
    ):
        reached = value(oracles.count(queries, oracles.above(found)))
        assert reached == best or best < 2 / per_answer


@given(blocks(), st.sampled_from(AIMS[3:]))
def test_a_share_is_asked_of_every_relation_by_itself(made, chosen):
    aim, value = chosen
    found, _ = best_together(shortlist(made), aim)
    groups = oracles.by_relation(oracles.asked(made))
    for slot in range(NUM_SLOTS):
        best, least = oracles.best_single(groups.get(slot, []), value)
        if best > 0:
            assert oracles.count(groups[slot], oracles.above(found)) == least
        else:
            assert found[slot] == np.inf


@given(blocks(), BETAS)
def test_all_shrinkage_there_is_gives_the_threshold_for_all(made, beta):
    kept = shortlist(made)
    shrunk, _ = best_together(kept, FBeta(beta), shrink=np.inf)
    assert shrunk.tolist() == [best_single(kept, FBeta(beta))] * NUM_SLOTS


@given(blocks(), st.sampled_from([0.0, 0.5, 4.0, None]))
def test_relations_that_valid_does_not_have_get_the_threshold_for_all(made, shrink):
    kept = shortlist(made)
    for_all = np.full(NUM_SLOTS, best_single(kept, FBeta()))
    found, _ = best_together(kept, FBeta(), shrink)
    unseen = sorted(set(range(NUM_SLOTS)) - {query.relation for query in oracles.asked(made)})
    assert found[unseen].tolist() == for_all[unseen].tolist()


@given(blocks(), st.sampled_from(AIMS))
def test_nothing_is_accepted_where_nothing_can_be_right(made, chosen):
    whole = joined(made)
    nothing = [block(whole.scores, [[]] * len(whole.queries), whole.queries.relations)]
    assert best_single(shortlist(nothing), chosen[0]) == np.inf
    assert (best_together(shortlist(nothing), chosen[0])[0] == np.inf).all()


@given(blocks())
def test_a_relation_without_answers_of_its_own_accepts_nothing(made):
    found = best_together(shortlist(made), FBeta(), shrink=0.0)[0]
    for slot, mine in oracles.by_relation(oracles.asked(made)).items():
        if not any(query.answers for query in mine):
            assert not any(oracles.accepted(query, oracles.above(found)) for query in mine)
            assert found[slot] == np.inf


def test_accepting_is_comparing_with_the_thresholds():
    kept = shortlist([block([[3.0, 1.0]], [[0]])])
    single = Thresholds.single(best_single(kept, FBeta()), NUM_SLOTS)
    assert Decider.of_thresholds("global", "f1", single).accept(kept).tolist() == [True, False]


@settings(max_examples=25)
@given(blocks())
def test_the_shrinkage_chosen_is_the_best_of_those_tried(made):
    _, found = best_together(shortlist(made), FBeta())
    reached = dict(found["trials"])
    defined = [f for f in reached.values() if not math.isnan(f)]
    assert not defined or reached[found["shrink"]] == max(defined)


def tuning(made, objective):
    """What a rule is given, from blocks of scores instead of a model."""
    benchmark = toy.built(toy.crowd(0, num_entities=20, num_relations=2, facts_each=4))
    benchmark = replace(benchmark, valid=queries_of(made))
    return Tuning(
        benchmark, lambda *collectors: collect(made, *collectors), objective, None, None, None
    )


def test_the_papers_rules_know_no_objective_but_f1():
    made = [block([[1.0]], [[0]])]
    assert RULES["paper-global"].find(tuning(made, FBeta())).rule == "paper-global"
    with pytest.raises(
        ConfigError, match=r"paper-relation: the paper's search is for f1, not f0\.5"
    ):
        RULES["paper-relation"].find(tuning(made, FBeta(0.5)))
