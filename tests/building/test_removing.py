"""Removing entities drops, moves and empties as Appendix A.1 says."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
import toy
from assent.building.removing import AUTO_LIMIT, first_of, named, outcomes, quarter, remove
from assent.errors import ConfigError, DataError


@st.composite
def removals(draw, graphs=None):
    """A graph, which facts are held out, an order of the entities, a half for each fact."""
    kb = draw(toy.graphs(most_facts=14) if graphs is None else graphs)
    size = len(kb.facts)
    held = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    order = draw(st.permutations(range(kb.vocabulary.num_entities)))
    halves = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    return kb, np.array(held, bool), np.array(order, np.int64), np.array(halves, np.int64)


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
    kb, held, order, halves = removal
    assume(len(kb.facts))
    none, answered = outcomes(kb.facts, held, order, halves, kb.vocabulary.num_relations)
    expected = oracles.outcomes(tuples(kb.facts), held.tolist(), order.tolist(), halves.tolist())
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
    kb, held, order, halves = removal
    assume(len(kb.facts))
    count = quarter(kb.facts, held, order, halves, kb.vocabulary.num_relations)
    none, answered = oracles.outcomes(
        tuples(kb.facts), held.tolist(), order.tolist(), halves.tolist()
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
    halves = np.zeros(3, np.int64)
    assert quarter(kb.facts, held, order, halves, 1) == 0


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
