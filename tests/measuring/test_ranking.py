"""Ranks of answers, ties in the middle."""

import numpy as np
import pytest
from hypothesis import given

from assent.measuring import ranking
from assent.measuring.ranking import mean_reciprocal_rank, ranks
from score_blocks import block, blocks


def slow_ranks(made):
    for part in made:
        for query, row in enumerate(part.scores):
            first, last = part.queries.offsets[query : query + 2]
            for answer in part.queries.answers[first:last]:
                above = sum(score > row[answer] for score in row)
                equal = sum(score == row[answer] for score in row)
                yield above + (1 + equal) / 2


@given(blocks())
def test_ranks_equal_those_counted_one_by_one(made):
    assert ranks(made).tolist() == list(slow_ranks(made))


@given(blocks())
def test_ranks_do_not_depend_on_how_many_are_compared_at_a_time(made):
    expected = ranks(made)
    patch = pytest.MonkeyPatch()
    with patch.context() as context:
        context.setattr(ranking, "ROWS", 1)
        assert np.array_equal(ranks(made), expected)


def test_the_mean_of_no_ranks_is_not_a_number():
    assert np.isnan(mean_reciprocal_rank([block([[1.0]], [[]])]))
    assert np.isnan(mean_reciprocal_rank([]))


def test_a_first_and_a_second_place_make_three_quarters():
    assert mean_reciprocal_rank([block([[5.0, 1.0], [5.0, 1.0]], [[0], [1]])]) == 0.75
