"""A type fits or violates as the intersection of two sets says."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import toy
from assent.core.arrays import frozen
from assent.core.types import Types
from assent.errors import DataError


def sets_of(offsets, values) -> dict[int, set[int]]:
    bounds = itertools.pairwise(offsets)
    return {row: set(values[a:b].tolist()) for row, (a, b) in enumerate(bounds)}


def every(num_entities: int, num_slots: int) -> tuple[np.ndarray, np.ndarray]:
    grid = np.indices((num_entities, num_slots), dtype=np.int32).reshape(2, -1)
    return grid[0], grid[1]


def test_a_person_fits_where_people_stand_and_violates_where_cities_stand():
    kb = toy.typed(toy.whole())
    ada, oslo, hana = (kb.vocabulary.entities.index(name) for name in ("ada", "oslo", "hana"))
    born_in, lives_in = (kb.vocabulary.relations.index(name) for name in ("born_in", "lives_in"))
    births = born_in + kb.vocabulary.num_relations
    anchors = np.array([ada, oslo, ada, oslo, hana, ada], np.int32)
    slots = np.array([born_in, born_in, births, births, births, lives_in], np.int32)
    assert kb.types.fit(anchors, slots).tolist() == [True, False, False, True, False, False]
    # Nothing is said against hana, who has no types, nor about lives_in, which takes none.
    assert kb.types.violate(anchors, slots).tolist() == [False, True, True, False, False, False]


@given(st.data())
def test_fit_and_violate_equal_the_oracle(data):
    vocabulary = toy.vocabulary_of(data.draw(st.integers(1, 6)), data.draw(st.integers(1, 3)))
    types = data.draw(toy.types(vocabulary))
    entity_types = sets_of(types.entity_offsets, types.entity_types)
    slot_types = sets_of(types.slot_offsets, types.slot_types)
    anchors, slots = every(vocabulary.num_entities, 2 * vocabulary.num_relations)
    queries = list(zip(anchors.tolist(), slots.tolist(), strict=True))
    assert types.fit(anchors, slots).tolist() == [
        oracles.fits(entity_types, slot_types, *query) for query in queries
    ]
    assert types.violate(anchors, slots).tolist() == [
        oracles.violates(entity_types, slot_types, *query) for query in queries
    ]


def test_nothing_asked_is_nothing_answered():
    types = toy.typed(toy.whole()).types
    nothing = np.empty(0, np.int32)
    assert types.fit(nothing, nothing).tolist() == []
    assert types.violate(nothing, nothing).tolist() == []


pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=12)


@given(pairs, pairs)
def test_pairs_may_come_in_any_order_and_as_often_as_you_like(entities, slots):
    types = Types.of_pairs(("a", "b", "c"), toy.pairs(entities), toy.pairs(slots), 4, 4)
    for offsets, values, given_pairs in (
        (types.entity_offsets, types.entity_types, entities),
        (types.slot_offsets, types.slot_types, slots),
    ):
        assert len(offsets) == 5
        assert len(values) == len(set(given_pairs))
        assert sets_of(offsets, values) == {
            row: {kind for r, kind in given_pairs if r == row} for row in range(4)
        }
        rows = itertools.pairwise(offsets)
        assert all((np.diff(values[start:end]) > 0).all() for start, end in rows)


@given(st.data())
def test_kept_entities_keep_their_types_in_the_new_order(data):
    vocabulary = toy.vocabulary_of(5, 1)
    types = data.draw(toy.types(vocabulary))
    kept = data.draw(st.lists(st.integers(0, 4), unique=True))
    before = sets_of(types.entity_offsets, types.entity_types)
    left = types.with_entities(np.array(kept, np.int32))
    after = sets_of(left.entity_offsets, left.entity_types)
    assert after == {new: before[old] for new, old in enumerate(kept)}
    assert left.slot_types.tolist() == types.slot_types.tolist()


@pytest.mark.parametrize("kind", [-1, 2, 3])
def test_a_type_without_a_name_is_refused_and_never_becomes_another_type(kind):
    good = toy.pairs([(0, 0)])
    with pytest.raises(DataError, match="types: an id that has no name"):
        Types(("a", "b"), frozen([0, 1], np.int64), frozen([kind]),
              frozen([0, 0, 0], np.int64), frozen([]))  # fmt: skip
    with pytest.raises(DataError):
        Types.of_pairs(("a", "b"), toy.pairs([(1, kind)]), good, 3, 2)
    with pytest.raises(DataError):
        Types.of_pairs(("a", "b"), good, toy.pairs([(0, kind)]), 3, 2)


def test_an_entity_or_slot_beyond_the_last_is_refused():
    good = toy.pairs([(0, 0)])
    with pytest.raises(DataError):
        Types.of_pairs(("a", "b"), toy.pairs([(3, 0)]), good, 3, 2)
    with pytest.raises(DataError):
        Types.of_pairs(("a", "b"), good, toy.pairs([(2, 0)]), 3, 2)


def test_offsets_that_miss_types_are_refused():
    with pytest.raises(DataError, match="offsets"):
        Types(("a",), frozen([0, 1], np.int64), frozen([0, 0]),
              frozen([0, 0], np.int64), frozen([]))  # fmt: skip
