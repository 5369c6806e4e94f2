"""Ragged arrays are lists of lists, and frozen arrays stay as they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.core.arrays import (
    distinct,
    found_in,
    frozen,
    offsets_of,
    pair_keys,
    places_in,
    rows_of,
)

lengths = st.lists(st.integers(0, 4), max_size=8)


def test_a_frozen_array_refuses_changes_and_the_callers_own_stays_writable():
    mine = np.array([1, 2, 3], dtype=np.int32)
    view = frozen(mine)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 9
    mine[0] = 7
    assert mine.tolist() == [7, 2, 3]


def test_three_segments_start_where_the_ones_before_end():
    assert offsets_of([2, 0, 3]).tolist() == [0, 2, 2, 5]
    assert rows_of(offsets_of([2, 0, 3])).tolist() == [0, 0, 2, 2, 2]
    assert places_in(offsets_of([2, 0, 3]), [2, 1, 0]).tolist() == [2, 3, 4, 0, 1]


def test_no_segments_have_one_offset_and_no_values():
    assert offsets_of([]).tolist() == [0]
    assert rows_of(offsets_of([])).tolist() == []
    assert places_in(offsets_of([]), []).tolist() == []


@given(lengths, st.data())
def test_places_are_those_of_the_chosen_segments_one_after_another(counts, data):
    segments, start = [], 0
    for count in counts:
        segments.append(list(range(start, start + count)))
        start += count
    rows = data.draw(
        st.lists(st.integers(0, len(counts) - 1), max_size=8) if counts else st.just([])
    )
    expected = [place for row in rows for place in segments[row]]
    assert places_in(offsets_of(counts), rows).tolist() == expected
    assert rows_of(offsets_of(counts)).tolist() == [
        row for row, segment in enumerate(segments) for _ in segment
    ]


@given(st.lists(st.integers(0, 9), max_size=6), st.lists(st.integers(-2, 12), max_size=6))
def test_found_in_is_membership(stored, asked):
    found = found_in(np.unique(np.array(stored, np.int64)), np.array(asked, np.int64))
    assert found.tolist() == [key in stored for key in asked]


@given(st.lists(st.integers(-5, 5), max_size=12))
def test_distinct_keys_ascend_and_stand_once(keys):
    assert distinct(np.array(keys, np.int64)).tolist() == sorted(set(keys))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), max_size=12))
def test_pair_keys_order_pairs_as_tuples_are_ordered(pairs):
    firsts, seconds = np.array(pairs, np.int32).reshape(-1, 2).T
    keys = pair_keys(firsts, seconds, 5)
    assert [pairs[place] for place in np.argsort(keys, kind="stable")] == sorted(pairs)
    assert len(set(keys.tolist())) == len(set(pairs))


def test_pair_keys_do_not_overflow_the_ids_they_are_made_of():
    big = np.array([2_000_000], np.int32)
    assert pair_keys(big, big, 3_000_000).tolist() == [2_000_000 * 3_000_000 + 2_000_000]
