"""Queries know whether they lost answers, and are dealt evenly to valid and test."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import oracles
import toy
from assent.building.asking import (
    TEST,
    VALID,
    ask,
    ask_nothing,
    deal_evenly,
    deal_queries,
    fakes_wanted,
    lost_keys,
)
from assent.building.removing import named, remove
from assent.core.queries import Queries, Subset


def all_asked(kb, held, gone):
    """What A.1 asks, by the fast functions."""
    names = kb.vocabulary
    parts = remove(kb.facts, held, gone)
    lost = lost_keys(parts.lost, gone, names.num_relations)
    answered = ask(parts.answers, lost, names)
    keys = np.unique(answered.keys(names.num_entities))
    none = ask_nothing(lost, keys, names.num_entities)
    return toy.named(Queries.joined([answered, none]), kb.vocabulary)


def test_the_toy_without_dan_and_oslo_asks_six_answered_and_seven_empty_queries():
    kb = toy.split()
    asked = all_asked(kb, kb.splits != 0, named(["dan", "oslo"], kb.vocabulary))
    nobody = frozenset()
    assert asked == {
        ("tail", "ada", "knows", "I", frozenset({"cleo"})),  # dan is lost
        ("head", "cleo", "knows", "C", frozenset({"ada"})),
        ("tail", "ben", "knows", "C", frozenset({"ada"})),
        ("head", "ada", "knows", "C", frozenset({"ben"})),
        ("tail", "eve", "lives_in", "C", frozenset({"lima"})),
        ("head", "lima", "lives_in", "C", frozenset({"eve"})),
        ("tail", "eve", "born_in", "N", nobody),
        ("tail", "ada", "lives_in", "N", nobody),
        ("tail", "cleo", "lives_in", "N", nobody),
        ("tail", "cleo", "knows", "N", nobody),
        ("head", "eve", "knows", "N", nobody),
        ("tail", "kyiv", "twinned_with", "N", nobody),
        ("head", "rome", "twinned_with", "N", nobody),
    }


@given(toy.graphs(), st.data())
def test_asking_equals_the_paper(kb, data):
    size, entities = len(kb.facts), kb.vocabulary.entities
    held = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
    removed = data.draw(st.sets(st.sampled_from(entities), max_size=len(entities) - 1))
    train = toy.named_facts(kb.facts[~held], kb.vocabulary)
    paper = oracles.appendix_a1(train, toy.named_facts(kb.facts[held], kb.vocabulary), removed)
    if paper.train:
        assert all_asked(kb, held, named(sorted(removed), kb.vocabulary)) == paper.asked()


def test_nobody_lost_is_no_query_lost():
    nobody = np.zeros(3, bool)
    lost = lost_keys(toy.triples([]), nobody, 2)
    assert lost.tolist() == []
    assert len(ask_nothing(lost, lost, 3)) == 0


def test_answers_left_keep_a_query_out_of_the_empty_ones():
    lost, answered = np.array([1, 2, 4]), np.array([2, 3])
    none = ask_nothing(lost, answered, num_entities=3)
    assert none.keys(3).tolist() == [1, 4]
    assert none.is_none.all()


# How many fakes, and even splits

ONE = toy.vocabulary_of(1, 1)


def some(heads: int, tails: int, subset: Subset = Subset.COMPLETE) -> Queries:
    """So many queries about the only relation, whatever their anchors."""
    relations = [0] * tails + [1] * heads
    return Queries.empty(range(heads + tails), relations, subset)


def test_table_one_of_the_paper():
    answered = some(heads=8_778 + 10_676 - 6_871, tails=15_688 + 13_144 - 8_850)
    none = some(heads=6_871, tails=8_850, subset=Subset.INCOMPLETE)
    wanted = fakes_wanted(answered, none, ONE)
    assert (wanted.heads, wanted.tails) == (5_712, 11_132)


def test_with_nothing_lost_all_empty_queries_are_fake():
    assert fakes_wanted(some(3, 5), some(0, 0), ONE) == (3, 5)


def test_with_too_much_lost_half_of_the_empty_queries_are_fake():
    assert fakes_wanted(some(4, 4), some(50, 50), ONE) == (2, 2)


def test_a_side_that_lost_more_than_it_asks_gets_no_fakes():
    assert fakes_wanted(some(0, 8), some(4, 0), ONE) == (0, 4)


@given(*[st.integers(0, 30)] * 4)
def test_fakes_fill_the_half_without_answers(heads, tails, none_heads, none_tails):
    answered, none = some(heads, tails), some(none_heads, none_tails)
    wanted = fakes_wanted(answered, none, ONE)
    kept = min(len(none), (len(answered) + 1) // 2)
    assert wanted.heads >= 0
    assert wanted.tails >= 0
    assert sum(wanted) + kept == len(answered)


@given(st.lists(st.integers(0, 4), max_size=40), st.integers(0, 2**16))
def test_splits_are_even_within_each_group_and_overall(groups, seed):
    dealt = deal_evenly(groups, np.random.default_rng(seed))
    assert set(dealt.tolist()) <= {VALID, TEST}
    for group in {None, *groups}:
        mine = [h for g, h in zip(groups, dealt, strict=True) if group in (None, g)]
        assert abs(mine.count(VALID) - mine.count(TEST)) <= 1


def test_a_group_of_one_goes_to_either_split():
    seen = {int(deal_evenly([0], np.random.default_rng(seed))[0]) for seed in range(20)}
    assert seen == {VALID, TEST}


def test_nothing_is_dealt_into_two_deal_evenly_nothing():
    assert deal_evenly([], np.random.default_rng(0)).tolist() == []
    valid, test = deal_queries(some(0, 0), np.random.default_rng(0))
    assert len(valid) == len(test) == 0


@given(toy.crowds(), st.integers(0, 2**16))
def test_whole_queries_are_dealt_evenly_within_each_relation_and_subset(kb, seed):
    rng = np.random.default_rng(seed)
    facts = kb.facts
    queries = Queries.grouped(facts[:, 0], facts[:, 1], facts[:, 2])
    queries = queries.marked(rng.integers(len(Subset), size=len(queries)))
    valid, test = deal_queries(queries, rng)
    in_valid, in_test = (toy.named(part, kb.vocabulary) for part in (valid, test))
    assert not in_valid & in_test
    assert in_valid | in_test == toy.named(queries, kb.vocabulary)
    counts = Counter((q[2], q[3]) for q in in_valid)
    counts.subtract((q[2], q[3]) for q in in_test)
    assert all(abs(difference) <= 1 for difference in counts.values())
    assert abs(len(valid) - len(test)) <= 1
