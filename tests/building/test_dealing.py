"""How many fakes, and even halves."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import toy
from assent.building.dealing import TEST, VALID, fakes_wanted, halved, halves_of
from assent.core.queries import Queries, Subset


def questions(heads: int, tails: int, subset: Subset = Subset.COMPLETE) -> Queries:
    """So many questions about the only relation; what they are about plays no part."""
    relations = [0] * tails + [1] * heads
    return Queries.empty(range(heads + tails), relations, subset)


def test_table_one_of_the_paper():
    answered = questions(heads=8_778 + 10_676 - 6_871, tails=15_688 + 13_144 - 8_850)
    none = questions(heads=6_871, tails=8_850, subset=Subset.INCOMPLETE)
    wanted = fakes_wanted(answered, none, num_relations=1)
    assert (wanted.heads, wanted.tails) == (5_712, 11_132)


def test_with_nothing_lost_all_empty_queries_are_fake():
    assert fakes_wanted(questions(3, 5), questions(0, 0), 1) == (3, 5)


def test_with_too_much_lost_half_of_the_empty_queries_are_fake():
    assert fakes_wanted(questions(4, 4), questions(50, 50), 1) == (2, 2)


def test_a_side_that_lost_more_than_it_asks_gets_no_fakes():
    assert fakes_wanted(questions(0, 8), questions(4, 0), 1) == (0, 4)


@given(*[st.integers(0, 30)] * 4)
def test_fakes_fill_the_empty_half(heads, tails, none_heads, none_tails):
    answered, none = questions(heads, tails), questions(none_heads, none_tails)
    wanted = fakes_wanted(answered, none, 1)
    kept = min(len(none), (len(answered) + 1) // 2)
    assert wanted.heads >= 0
    assert wanted.tails >= 0
    assert sum(wanted) + kept == len(answered)


@given(st.lists(st.integers(0, 4), max_size=40), st.integers(0, 2**16))
def test_halves_are_even_within_each_group_and_overall(groups, seed):
    halves = halves_of(groups, np.random.default_rng(seed))
    assert set(halves.tolist()) <= {VALID, TEST}
    for group in {None, *groups}:
        mine = [h for g, h in zip(groups, halves, strict=True) if group in (None, g)]
        assert abs(mine.count(VALID) - mine.count(TEST)) <= 1


def test_a_group_of_one_goes_to_either_half():
    seen = {int(halves_of([0], np.random.default_rng(seed))[0]) for seed in range(20)}
    assert seen == {VALID, TEST}


def test_nothing_is_dealt_into_two_halves_of_nothing():
    assert halves_of([], np.random.default_rng(0)).tolist() == []
    valid, test = halved(questions(0, 0), np.random.default_rng(0))
    assert len(valid) == len(test) == 0


@given(toy.crowds(), st.integers(0, 2**16))
def test_whole_queries_are_dealt_evenly_within_each_relation_and_subset(kb, seed):
    rng = np.random.default_rng(seed)
    facts = kb.facts
    queries = Queries.grouped(facts[:, 0], facts[:, 1], facts[:, 2])
    queries = queries.marked(rng.integers(len(Subset), size=len(queries)))
    valid, test = halved(queries, rng)
    in_valid, in_test = (toy.named(half, kb.vocabulary) for half in (valid, test))
    assert not in_valid & in_test
    assert in_valid | in_test == toy.named(queries, kb.vocabulary)
    counts = Counter((q[2], q[3]) for q in in_valid)
    counts.subtract((q[2], q[3]) for q in in_test)
    assert all(abs(difference) <= 1 for difference in counts.values())
    assert abs(len(valid) - len(test)) <= 1
