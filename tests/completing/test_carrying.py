"""Scores of a final fit on the scale of the rehearsal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.completing.carrying import LOWEST, Scale, by_rank
from assent.completing.rehearsing import Candidates, Known
from assent.core.arrays import frozen

SCORES = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=12)


def slow_by_rank(scores, old, ratio):
    """One score at a time: its mean rank from above, then a walk down the old ones."""
    falling = sorted(old, reverse=True)
    found = []
    for score in scores:
        above = sum(other > score for other in scores)
        rank = (above + (sum(other == score for other in scores) + 1) / 2 - 0.5) / ratio - 0.5
        low = int(np.floor(rank))
        if low < 0:
            found.append(falling[0])
        elif low + 1 >= len(falling):
            found.append(falling[-1])
        else:
            found.append(falling[low] + (rank - low) * (falling[low + 1] - falling[low]))
    return found


@given(SCORES, SCORES, st.sampled_from([0.5, 1.0, 1.7]))
def test_a_score_becomes_the_one_of_its_rank(scores, old, ratio):
    found = by_rank(np.array(scores), np.array(old), ratio)
    assert found.tolist() == pytest.approx(slow_by_rank(scores, old, ratio))


@given(SCORES.map(lambda some: sorted(set(some))))
def test_the_same_scores_stay_as_they_are(scores):
    assert by_rank(np.array(scores), np.array(scores), 1.0).tolist() == pytest.approx(scores)


def candidates(rows):
    """From (relation, joined, score)."""
    relations, joined, scores = zip(*rows, strict=True)
    facts = np.stack([np.arange(len(rows)), relations, np.arange(len(rows))], axis=1)
    return Candidates(
        frozen(facts),
        frozen(scores, np.float64),
        frozen(np.zeros(len(rows)), np.float64),
        frozen(np.zeros(len(rows)), np.bool_),
        frozen(joined, np.bool_),
    )


def test_each_relation_and_kind_has_a_scale_of_its_own():
    known = Known(np.array([10, 10, 10]), np.array([4, 4, 4]))
    before = candidates([(0, False, 1.0), (0, False, -1.0), (0, True, 7.0), (1, False, 3.0)])
    final = candidates([(0, False, 50.0), (0, False, 40.0), (0, True, 9.0), (1, False, 2.0)])
    scale = Scale(final, known, before, known)
    assert scale.of(final).scores.tolist() == [1.0, -1.0, 7.0, 3.0]
    other = candidates([(0, False, 45.0), (1, True, 5.0), (2, False, 5.0)])
    assert scale.of(other).scores.tolist() == [0.0, LOWEST, LOWEST]


def test_where_more_is_known_more_is_as_probable():
    known, twice = Known(np.array([10]), np.array([0])), Known(np.array([20]), np.array([0]))
    before = candidates([(0, False, float(score)) for score in (4, 3, 2, 1)])
    final = candidates([(0, False, float(score)) for score in range(8)])
    carried = Scale(final, twice, before, known).of(final).scores
    assert carried.tolist() == [1.0, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4.0]
