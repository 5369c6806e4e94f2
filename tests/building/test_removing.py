"""Facts are held out where they can be spared; removing entities does what Appendix A.1 says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
import toy
from assent.building.removing import (
    AUTO_LIMIT,
    first_of,
    hold_out,
    named,
    outcomes,
    quarter,
    remove,
)
from assent.core.facts import KnowledgeBase, Split
from assent.errors import ConfigError, DataError


@st.composite
def removals(draw, graphs=None):
    """A graph, which facts are held out, an order of the entities, a split for each fact."""
    kb = draw(toy.graphs(most_facts=14) if graphs is None else graphs)
    size = len(kb.facts)
    held = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    order = draw(st.permutations(range(kb.vocabulary.num_entities)))
    dealt = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    return kb, np.array(held, bool), np.array(order, np.int64), np.array(dealt, np.int64)


def tuples(facts) -> list[tuple[int, int, int]]:
    return [tuple(fact) for fact in facts.tolist()]


def test_the_toy_without_dan_and_oslo():
    kb = toy.split()
    gone = named(["dan", "oslo"], kb.vocabulary)
    parts = remove(kb.facts, kb.splits != 0, gone)
    train, answers, lost = (toy.named_facts(part, kb.vocabulary) for part in parts)
    assert lost == set(
        toy.facts_in("""
            eve  born_in oslo    ada lives_in oslo    cleo lives_in oslo
            ada  knows dan       cleo knows dan       dan  knows eve
            kyiv twinned_with oslo                    oslo twinned_with rome
        """)
    )
    assert answers == set(toy.facts_in("ada knows cleo  ben knows ada  eve lives_in lima"))
    dropped = set(toy.facts_in("dan born_in oslo  dan lives_in oslo"))
    assert train == set(toy.facts_in(toy.TRAIN)) - lost - dropped


@given(removals(), st.data())
def test_facts_are_kept_moved_and_dropped_as_in_the_paper(removal, data):
    kb, held, order, _ = removal
    gone = first_of(order, data.draw(st.integers(0, len(order) - 1)))
    removed = set(np.flatnonzero(gone).tolist())
    facts = tuples(kb.facts)
    train = {fact for fact, out in zip(facts, held, strict=True) if not out}
    paper = oracles.appendix_a1(train, set(facts) - train, removed)
    if not paper.train:
        with pytest.raises(DataError, match="leaves no train fact; remove fewer"):
            remove(kb.facts, held, gone)
        return
    parts = remove(kb.facts, held, gone)
    one_end_gone = {fact for fact in facts if (fact[0] in removed) != (fact[2] in removed)}
    assert set(tuples(parts.train)) == paper.train
    assert set(tuples(parts.answers)) == {
        fact for fact in set(facts) - train if not {fact[0], fact[2]} & removed
    }
    assert set(tuples(parts.lost)) == one_end_gone


@given(removals())
def test_outcomes_equal_really_removing_every_number_of_entities(removal):
    kb, held, order, dealt = removal
    assume(len(kb.facts))
    none, answered = outcomes(kb.facts, held, order, dealt, kb.vocabulary.num_relations)
    expected = oracles.outcomes(tuples(kb.facts), held.tolist(), order.tolist(), dealt.tolist())
    assert (none.tolist(), answered.tolist()) == expected


def test_a_graph_without_facts_has_no_outcomes_but_zero():
    nothing, order = np.empty(0, np.int64), np.arange(3)
    none, answered = outcomes(toy.triples([]), nothing.astype(bool), order, nothing, 2)
    assert none.tolist() == answered.tolist() == [0, 0, 0, 0]


def test_a_graph_with_nothing_held_out_has_empty_queries_only():
    kb = toy.of_names([("ada", "knows", "ben")])
    order = np.array([1, 0])  # ben goes first: then ada has lost him
    none, answered = outcomes(kb.facts, np.array([False]), order, np.array([0]), 1)
    assert (none.tolist(), answered.tolist()) == ([0, 1, 0], [0, 0, 0])


@given(removals(toy.graphs(most_entities=12, most_facts=30)))
def test_auto_removes_the_fewest_for_a_quarter_or_comes_as_close_as_the_limit_allows(removal):
    kb, held, order, dealt = removal
    assume(len(kb.facts))
    count = quarter(kb.facts, held, order, dealt, kb.vocabulary.num_relations)
    none, answered = oracles.outcomes(
        tuples(kb.facts), held.tolist(), order.tolist(), dealt.tolist()
    )
    limit = max(1, int(AUTO_LIMIT * len(order)))
    askable = [n for n in range(limit + 1) if answered[n]]
    enough = [n for n in askable if 2 * none[n] >= answered[n]]
    assert 0 <= count <= limit
    if enough:
        assert count == enough[0]
    elif askable:
        assert count in askable, "a number that leaves something to ask comes closer than none"
        assert none[count] / answered[count] == max(none[n] / answered[n] for n in askable)


def test_auto_never_removes_all_that_could_be_asked_for():
    # The only held-out fact is about ben and cleo. Without cleo nothing is answered any more.
    kb = toy.of_names(
        [("ada", "knows", "ben"), ("ada", "knows", "dan")], [("ben", "knows", "cleo")]
    )
    held = kb.splits != 0
    order = np.array([2, 0, 1, 3])  # cleo goes first
    dealt = np.zeros(3, np.int64)
    assert quarter(kb.facts, held, order, dealt, 1) == 0


def test_names_become_a_mask():
    vocabulary = toy.whole().vocabulary
    gone = named(["rome", "ada"], vocabulary)
    assert [vocabulary.entities[e] for e in np.flatnonzero(gone)] == ["ada", "rome"]
    assert not named([], vocabulary).any()


def test_a_name_that_is_not_in_the_graph_is_refused():
    with pytest.raises(DataError, match="removed entity 'zoe' is not in the graph"):
        named(["ada", "zoe"], toy.whole().vocabulary)


def test_the_first_of_an_order_are_removed():
    assert first_of(np.array([2, 0, 1]), 2).tolist() == [True, False, True]
    assert first_of(np.array([2, 0, 1]), 0).tolist() == [False, False, False]


@pytest.mark.parametrize("count", [-1, 3, 4])
def test_a_number_that_leaves_nobody_or_is_none_is_refused(count):
    with pytest.raises(ConfigError, match=f"removed = {count}; choose from 0 to 2"):
        first_of(np.array([2, 0, 1]), count)


def test_removing_everyone_who_stands_in_train_is_refused():
    kb = toy.of_names([("ada", "knows", "ben")], [("cleo", "knows", "dan")])
    gone = named(["ada"], kb.vocabulary)
    with pytest.raises(DataError, match="removing 1 of 4 entities leaves no train fact"):
        remove(kb.facts, kb.splits != 0, gone)


# Holding facts out

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
