"""New facts can be taken apart and joined again; a chain is read back as known facts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toy
from assent.core.arrays import frozen
from assent.core.new_facts import NONE, Chain, Evidence, NewFacts
from assent.errors import DataError

NAMES = toy.vocabulary_of(4, 2)


def facts_of(chains):
    """A fact e0 r0 e1 for each list of (first, second, middle) chains."""
    count, every = len(chains), [chain for mine in chains for chain in mine]
    evidence = Evidence(
        frozen(np.concatenate([[0], np.cumsum([len(mine) for mine in chains])]), np.int64),
        frozen(np.array([chain[:2] for chain in every], np.int32).reshape(-1, 2)),
        frozen([chain[2] for chain in every]),
        frozen(np.arange(len(every)), np.int64),
        frozen(np.arange(len(every)) + 7, np.int64),
    )
    numbers = frozen(np.arange(count), np.float64)
    return NewFacts(
        NAMES,
        frozen(np.tile([0, 0, 1], (count, 1))),
        frozen(np.arange(count) % 2, np.bool_),
        numbers,
        frozen(numbers, np.float32),
        numbers,
        numbers,
        frozen(np.ones(count)),
        evidence,
    )


def test_a_step_along_an_inverse_slot_is_a_fact_the_other_way_round():
    facts = facts_of([[(1, NONE, NONE), (3, NONE, NONE), (0, 3, 2), (2, 1, 3)], []])
    assert facts.chains(0) == [
        Chain(((0, 1, 1),), 0, 7),
        Chain(((1, 1, 0),), 1, 8),
        Chain(((0, 0, 2), (1, 1, 2)), 2, 9),
        Chain(((3, 0, 0), (3, 1, 1)), 3, 10),
    ]
    assert facts.chains(1) == []


CHAINS = st.lists(
    st.lists(st.sampled_from([(1, NONE, NONE), (2, 3, 3), (0, 1, 2)]), max_size=3), max_size=6
)


@given(CHAINS, st.data())
def test_taking_keeps_each_fact_with_its_own_chains(chains, data):
    facts = facts_of(chains)
    places = data.draw(st.lists(st.sampled_from(range(len(chains))))) if chains else []
    taken = facts.take(np.array(places, np.int64))
    assert taken.probabilities.tolist() == [float(place) for place in places]
    assert [taken.chains(i) for i in range(len(places))] == [facts.chains(p) for p in places]


@given(CHAINS, st.integers(0, 6))
def test_joining_what_was_split_gives_the_same(chains, cut):
    facts = facts_of(chains)
    first = np.arange(len(facts)) < cut
    again = NewFacts.joined([facts.take(first), facts.take(~first)], NAMES)
    assert [again.chains(i) for i in range(len(again))] == [
        facts.chains(i) for i in range(len(facts))
    ]
    assert again.decisions.tolist() == facts.decisions.tolist()


def test_columns_of_different_lengths_are_refused():
    assert len(NewFacts.joined([], NAMES)) == 0
    with pytest.raises(DataError, match="different lengths"):
        NewFacts(NAMES, *facts_of([[]])._columns(), Evidence.nothing(2))
    with pytest.raises(DataError, match="offsets"):
        Evidence(frozen([0, 1], np.int64), *Evidence.nothing(1)._columns())
