"""Hashes are the first digits of md5, and the lowest of them are one prefix."""

from hashlib import md5

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assent.core.hashing import hashes_of, lowest


@given(st.lists(st.text(max_size=8), max_size=5))
def test_a_hash_is_the_first_fifteen_digits_of_md5(texts):
    expected = [int(md5(text.encode()).hexdigest()[:15], 16) for text in texts]
    assert hashes_of(texts).tolist() == expected


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(-1, 13))
def test_the_lowest_are_as_many_as_asked_for_or_fewer_where_the_next_ones_are_equal(values, most):
    taken = lowest(np.array(values, dtype=np.int64), most).tolist()
    inside = [value for value, chosen in zip(values, taken, strict=True) if chosen]
    outside = [value for value, chosen in zip(values, taken, strict=True) if not chosen]
    assert len(inside) <= max(most, 0)
    assert not inside or not outside or max(inside) < min(outside)
    if outside:
        assert len(inside) + outside.count(min(outside)) > most, "the next ones did not fit"
