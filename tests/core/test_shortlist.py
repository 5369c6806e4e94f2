"""A shortlist counts decisions, and refuses those that it cannot know."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciding_oracles as oracles
from assent.core.arrays import frozen
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.errors import DataError
from score_blocks import NUM_SLOTS, block, blocks, shortlist

LINES = st.lists(
    st.sampled_from([-np.inf, -2.0, -0.5, 0.0, 0.5, 2.0, np.inf]),
    min_size=NUM_SLOTS,
    max_size=NUM_SLOTS,
)


def numbers(counts):
    columns = (counts.correct, counts.accepted, counts.relevant)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(blocks(), LINES)
def test_decisions_are_counted_query_by_query(made, lines):
    kept, accepts = shortlist(made), oracles.above(lines)
    found = kept.counts(kept.accepted(Thresholds.of(lines)))
    assert numbers(found) == [oracles.count([query], accepts) for query in oracles.asked(made)]


@given(blocks(), LINES, st.randoms(use_true_random=False))
def test_taking_some_queries_leaves_their_decisions_as_they_were(made, lines, random):
    kept, queries = shortlist(made), oracles.asked(made)
    mask = [random.random() < 0.5 for _ in queries]
    taken = kept.take(mask)
    expected = [
        oracles.count([query], oracles.above(lines))
        for query, on in zip(queries, mask, strict=True)
        if on
    ]
    assert numbers(taken.counts(taken.accepted(Thresholds.of(lines)))) == expected
    assert len(taken.queries) == sum(mask)
    assert np.all(np.diff(taken.rows) >= 0)


def forgetful(made, floors):
    """The same list with what is not higher than the floors forgotten."""
    kept = shortlist(made)
    still = kept.scores > np.array(floors)[kept.relations]
    return Shortlist(
        kept.queries,
        kept.rows[still],
        kept.entities[still],
        kept.scores[still],
        kept.right[still],
        frozen(floors, np.float32),
    )


def test_a_threshold_below_the_floor_is_refused_and_one_on_it_is_not():
    kept = forgetful([block([[1.0, 2.0, 3.0]], [[2]], [1])], [-np.inf, 1.5])
    assert kept.accepted(Thresholds.of([0.0, 1.5])).tolist() == [True, True]
    assert kept.accepted(Thresholds.of([0.0, 2.5])).tolist() == [False, True]
    with pytest.raises(DataError, match="below the floor of its slot"):
        kept.accepted(Thresholds.of([0.0, 1.0]))


def test_the_floor_of_a_relation_that_is_not_asked_about_does_not_matter():
    kept = forgetful([block([[1.0, 2.0]], [[0]], [0])], [-np.inf, 5.0])
    assert kept.accepted(Thresholds.of([1.5, 0.0])).tolist() == [False, True]


def test_no_queries_have_no_counts():
    kept = shortlist([block([[1.0]], [[0]])]).take([False])
    assert len(kept) == len(kept.queries) == 0
    assert numbers(kept.counts(kept.accepted(Thresholds.single(0.0, NUM_SLOTS)))) == []
