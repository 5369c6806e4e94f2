"""What is held out was seen before, and is as much as asked for where that can be."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import toy
from assent.building.holding import hold_out
from assent.core.facts import KnowledgeBase, Split

shares = st.floats(0.01, 0.99)
seeds = st.integers(0, 2**16)


def held_of(kb: KnowledgeBase, share: float, seed: int = 0):
    return hold_out(kb, share, np.random.default_rng(seed))


some_facts = st.one_of(toy.graphs(), toy.graphs(most_entities=30)).filter(lambda kb: len(kb.facts))
any_graphs = st.one_of(some_facts, toy.crowds(splits=False))


@given(any_graphs, shares, seeds)
def test_no_entity_or_relation_loses_its_last_fact(kb, share, seed):
    train = kb.facts[~held_of(kb, share, seed)]
    assert set(train[:, [0, 2]].flat) == set(kb.facts[:, [0, 2]].flat)
    assert set(train[:, 1]) == set(kb.facts[:, 1])


@given(any_graphs, shares, seeds)
def test_all_facts_between_two_entities_are_held_out_or_stay_together(kb, share, seed):
    held = held_of(kb, share, seed)
    pairs_held, pairs_kept = (
        {frozenset({head, tail}) for head, _, tail in kb.facts[mask].tolist()}
        for mask in (held, ~held)
    )
    assert not pairs_held & pairs_kept


@given(any_graphs, shares, seeds)
def test_the_share_is_taken_from_pairs_that_hold_nobodys_last_fact_as_far_as_these_go(
    kb, share, seed
):
    held = held_of(kb, share, seed)
    order = np.random.default_rng(seed).permutation(len(kb.facts)).tolist()
    spare = oracles.spare_pairs(kb.facts.tolist(), order)
    asked, taken = round(share * len(kb.facts)), set(np.flatnonzero(held).tolist())
    assert len(taken) <= asked
    assert taken <= {place for places in spare.values() for place in places}
    left = [len(places) for places in spare.values() if not places & taken]
    assert not left or len(taken) + max(left) > asked, "some pair had found its place"


@given(toy.crowds(splits=False), seeds)
def test_a_small_share_of_a_dense_graph_without_twins_is_taken_to_the_fact(kb, seed):
    heads, _, tails = kb.facts.T
    pairs = {frozenset(pair) for pair in zip(heads.tolist(), tails.tolist(), strict=True)}
    if len(pairs) < len(kb.facts):
        places = {frozenset(pair): i for i, pair in enumerate(zip(heads, tails, strict=True))}
        kb = KnowledgeBase.of_ids(kb.vocabulary, kb.facts[sorted(places.values())])
    must_stay = kb.vocabulary.num_entities + kb.vocabulary.num_relations
    for share in (0.05, 0.1, 0.2):
        asked = round(share * len(kb.facts))
        if asked <= len(kb.facts) - must_stay:
            assert held_of(kb, share, seed).sum() == asked


@given(toy.crowds(splits=True), shares, seeds)
def test_valid_and_test_are_held_out_where_the_graph_has_them(kb, share, seed):
    if kb.has_splits:
        assert held_of(kb, share, seed).tolist() == (kb.splits != Split.TRAIN).tolist()


def test_the_toy_holds_out_what_stands_in_its_valid_and_test():
    kb = toy.split()
    held = toy.named_facts(kb.facts[held_of(kb, 0.5)], kb.vocabulary)
    assert held == set(toy.facts_in(toy.VALID + toy.TEST))


def test_a_graph_with_a_test_but_no_valid_holds_out_the_test():
    kb = toy.of_names([("ada", "knows", "ben")], [], [("ben", "knows", "ada")])
    assert held_of(kb, 0.5).tolist() == [False, True]


def test_two_who_know_only_each_other_have_nothing_to_spare():
    kb = toy.of_names([("ada", "knows", "ben"), ("ben", "knows", "ada"), ("ada", "likes", "ben")])
    assert not held_of(kb, 0.9).any()


def test_a_twin_that_would_give_a_fact_away_is_held_out_with_it():
    # In a ring of friends, two say it both ways: their pair goes as one, or stays.
    ring = ["ada", "ben", "cleo", "dan", "eve"]
    facts = [(one, "knows", other) for one, other in zip(ring, ring[1:] + ring[:1], strict=True)]
    kb = toy.of_names([*facts, ("ben", "knows", "ada")])
    for seed in range(20):
        held = toy.named_facts(kb.facts[held_of(kb, 0.4, seed)], kb.vocabulary)
        assert (("ada", "knows", "ben") in held) == (("ben", "knows", "ada") in held)


@pytest.mark.parametrize("seed", range(8))
def test_names_that_no_fact_has_make_no_difference(seed):
    # More entities than facts: a key of a pair must not be one of another pair as well.
    facts = toy.triples([(1, 0, 4), (4, 0, 2), (2, 0, 6), (6, 0, 1), (5, 0, 0), (5, 0, 5)])
    wide = np.array([0, 1, 2, 11, 17, 23, 26])
    spread = np.stack([wide[facts[:, 0]], facts[:, 1], wide[facts[:, 2]]], axis=1)
    few, many = (
        KnowledgeBase.of_ids(toy.vocabulary_of(size, 1), ids.astype(np.int32))
        for size, ids in ((7, facts), (27, spread))
    )
    assert held_of(few, 0.5, seed).tolist() == held_of(many, 0.5, seed).tolist()


def test_no_facts_hold_out_nothing():
    kb = KnowledgeBase.of_ids(toy.vocabulary_of(3, 1), toy.triples([]))
    assert held_of(kb, 0.5).tolist() == []


def test_another_seed_holds_out_other_facts_and_the_same_seed_the_same():
    kb = toy.crowd(seed=1, num_entities=20, num_relations=2, facts_each=6)
    assert held_of(kb, 0.2, seed=3).tolist() == held_of(kb, 0.2, seed=3).tolist()
    assert held_of(kb, 0.2, seed=3).tolist() != held_of(kb, 0.2, seed=4).tolist()


def test_types_and_source_have_no_say():
    kb = toy.whole()
    other = replace(toy.typed(kb), source=replace(kb.source, name="elsewhere"))
    assert held_of(kb, 0.2).tolist() == held_of(other, 0.2).tolist()
