"""New facts can be taken apart and joined again, each with its own evidence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toy
from assent.core.arrays import frozen
from assent.core.new_facts import AGAINST, FOR, RULES, SIMILAR, Evidence, NewFacts, Reason
from assent.errors import DataError

NAMES = toy.vocabulary_of(4, 2)


def facts_of(kinds):
    """A fact e0 r0 e1 for each list of kinds of reasons; every reason has a number of its own."""
    count, numbers = len(kinds), iter(range(10_000))
    evidence = Evidence.of(
        [[Reason(kind, 0.5, next(numbers), 9, "because") for kind in mine] for mine in kinds]
    )
    values = frozen(np.arange(count), np.float64)
    return NewFacts(
        NAMES,
        frozen(np.tile([0, 0, 1], (count, 1))),
        frozen(np.arange(count) % 2, np.bool_),
        values,
        frozen(values, np.float32),
        values,
        values,
        frozen(np.ones(count)),
        evidence,
    )


def test_reasons_for_and_against_are_told_apart():
    facts = facts_of([["head", "path", "answered"], [SIMILAR, "rival"], []])
    assert [reason.kind for reason in facts.reasons(0)] == ["head", "path"]
    assert [reason.kind for reason in facts.against(0)] == ["answered"]
    assert [reason.kind for reason in facts.reasons(1)] == [SIMILAR]
    assert facts.reasons(2) == facts.against(2) == []
    assert [facts.by_similarity(place) for place in range(3)] == [False, True, True]
    assert set(RULES) < set(FOR) and not set(FOR) & set(AGAINST)


KINDS = st.lists(st.lists(st.sampled_from([*FOR, *AGAINST]), max_size=3), max_size=6)


@given(KINDS, st.data())
def test_taking_keeps_each_fact_with_its_own_reasons(kinds, data):
    facts = facts_of(kinds)
    places = data.draw(st.lists(st.sampled_from(range(len(kinds))))) if kinds else []
    taken = facts.take(np.array(places, np.int64))
    assert taken.probabilities.tolist() == [float(place) for place in places]
    for place, was in enumerate(places):
        assert taken.evidence.at(place) == facts.evidence.at(was)


@given(KINDS, st.integers(0, 6))
def test_joining_what_was_split_gives_the_same(kinds, cut):
    facts = facts_of(kinds)
    first = np.arange(len(facts)) < cut
    again = NewFacts.joined([facts.take(first), facts.take(~first)], NAMES)
    assert again.evidence.reasons == facts.evidence.reasons
    assert again.evidence.offsets.tolist() == facts.evidence.offsets.tolist()
    assert again.decisions.tolist() == facts.decisions.tolist()


def test_columns_of_different_lengths_are_refused():
    assert len(NewFacts.joined([], NAMES)) == 0
    with pytest.raises(DataError, match="different lengths"):
        NewFacts(NAMES, *facts_of([[]])._columns(), Evidence.nothing(2))
    with pytest.raises(DataError, match="offsets"):
        Evidence(frozen([0, 1], np.int64), ())
