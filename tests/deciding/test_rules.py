"""Rules find the best thresholds there are: no other does better, by trying all."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deciding_oracles as oracles
from assent.core.scores import collect
from assent.deciding.objectives import AtLeast, FBeta
from assent.deciding.paper import Levels
from assent.deciding.rules import one_per_relation, tune, tune_on_grid
from assent.deciding.shortlisting import Highest
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
        threshold = tune("global", kept, aim).thresholds.values
        assert len(set(threshold.tolist())) == 1
        best, least = oracles.best_single(queries, value)
        if best > 0:
            assert oracles.count(queries, oracles.above(threshold)) == least
        else:
            assert (threshold == np.inf).all()


@given(blocks(most_entities=5), BETAS)
def test_per_relation_is_the_best_of_all_combinations_for_all_relations_together(made, beta):
    queries, value = oracles.asked(made), oracles.f_beta(beta)
    found = one_per_relation(shortlist(made), FBeta(beta), shrink=0.0).thresholds.values
    assert value(oracles.count(queries, oracles.above(found))) == oracles.best_together(
        queries, value
    )


@given(blocks(most_queries=4, levels=ANY))
def test_per_relation_is_the_best_whatever_the_scores(made):
    queries, value = oracles.asked(made), oracles.f_beta()
    found = one_per_relation(shortlist(made), FBeta(), shrink=0.0).thresholds.values
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
        (tune("global", kept, FBeta()), oracles.best_single(queries, value)[0]),
        (one_per_relation(kept, FBeta(), shrink=0.0), oracles.best_together(queries, value)),
    ):
        reached = value(oracles.count(queries, oracles.above(found.thresholds.values)))
        assert reached == best or best < 2 / per_answer


@given(blocks(), st.sampled_from(AIMS[3:]))
def test_a_share_is_asked_of_every_relation_by_itself(made, chosen):
    aim, value = chosen
    found = tune("per-relation", shortlist(made), aim).thresholds.values
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
    shrunk = one_per_relation(kept, FBeta(beta), shrink=np.inf)
    alone = tune("global", kept, FBeta(beta))
    assert shrunk.thresholds.values.tolist() == alone.thresholds.values.tolist()


@given(blocks(), st.sampled_from([0.0, 0.5, 4.0, None]))
def test_relations_that_valid_does_not_have_get_the_threshold_for_all(made, shrink):
    kept = shortlist(made)
    for_all = tune("global", kept, FBeta()).thresholds.values
    found = one_per_relation(kept, FBeta(), shrink).thresholds.values
    unseen = sorted(set(range(NUM_SLOTS)) - {query.relation for query in oracles.asked(made)})
    assert found[unseen].tolist() == for_all[unseen].tolist()


@given(blocks(), st.sampled_from(["global", "per-relation"]), st.sampled_from(AIMS))
def test_nothing_is_accepted_where_nothing_can_be_right(made, rule, chosen):
    whole = joined(made)
    nothing = [block(whole.scores, [[]] * len(whole.queries), whole.queries.relations)]
    assert (tune(rule, shortlist(nothing), chosen[0]).thresholds.values == np.inf).all()


@given(blocks())
def test_a_relation_without_answers_of_its_own_accepts_nothing(made):
    found = one_per_relation(shortlist(made), FBeta(), shrink=0.0).thresholds.values
    for slot, mine in oracles.by_relation(oracles.asked(made)).items():
        if not any(query.answers for query in mine):
            assert not any(oracles.accepted(query, oracles.above(found)) for query in mine)
            assert found[slot] == np.inf


def test_accepting_is_comparing_with_the_thresholds():
    kept = shortlist([block([[3.0, 1.0]], [[0]])])
    decider = tune("global", kept, FBeta())
    assert decider.accept(kept).tolist() == [True, False]
    assert decider.objective == "f1" and decider.rule == "global"


@settings(max_examples=25)
@given(blocks())
def test_the_shrinkage_chosen_is_the_best_of_those_tried(made):
    found = tune("per-relation", shortlist(made), FBeta()).found
    reached = dict(found["trials"])
    defined = [f for f in reached.values() if not math.isnan(f)]
    assert not defined or reached[found["shrink"]] == max(defined)


def test_an_unknown_rule_is_refused_by_name():
    kept = shortlist([block([[1.0]], [[0]])])
    with pytest.raises(ConfigError, match=r"'guess'.*global.*per-relation"):
        tune("guess", kept, FBeta())


def test_the_papers_rules_know_no_objective_but_f1():
    made = [block([[1.0]], [[0]])]
    levels = Levels(queries_of(made), NUM_SLOTS)
    collect(made, levels)
    assert tune_on_grid("paper-global", levels, FBeta()).rule == "paper-global"
    with pytest.raises(
        ConfigError, match=r"paper-relation: the paper's search is for f1, not f0\.5"
    ):
        tune_on_grid("paper-relation", levels, FBeta(0.5))
    with pytest.raises(ConfigError, match=r"'global'.*paper-global"):
        tune_on_grid("global", levels, FBeta())
