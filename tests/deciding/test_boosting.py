"""Trees that are grown as slow loops would, whatever the values of the features."""

from math import inf, nan, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boosting_oracles as oracles
from assent.deciding.boosting import (
    BINS,
    BoostSettings,
    bin_boundaries,
    bins_of,
    boosted,
    drawn_features,
)
from assent.deciding.trees import LEAF, Forest

TIED = st.sampled_from([nan, -inf, -1.0, 0.0, 0.5, nextafter(0.5, 1), 2.0, 1e308, inf])
CONSTANT = st.just(7.0)
LACKING = st.just(nan)
VALUES = (TIED, CONSTANT, LACKING, st.floats(-2, 2, width=16))


@st.composite
def learnable(draw):
    """Rows of a few features, some right and some not, and settings of small trees."""
    count = draw(st.integers(4, 30))
    kinds = draw(st.lists(st.sampled_from(VALUES), min_size=1, max_size=3))
    rows = [[draw(kind) for kind in kinds] for _ in range(count)]
    right = [True, False] + [draw(st.booleans()) for _ in range(count - 2)]
    settings = BoostSettings(
        trees=draw(st.integers(1, 3)),
        leaves=draw(st.integers(2, 5)),
        leaf_rows=draw(st.integers(1, 4)),
        l2=draw(st.sampled_from([0.1, 1.0])),
        features=draw(st.sampled_from([0.1, 0.5, 1.0])),
    )
    return np.array(rows), np.array(right), settings


def logits(forest, rows):
    return forest.logits(rows, np.zeros(len(rows), np.int64))


@given(learnable())
def test_every_split_is_one_of_the_best_and_every_leaf_takes_a_newton_step(case):
    rows, right, settings = case
    forest = boosted(rows, right, settings)
    looked_at = drawn_features(rows.shape[1], settings).tolist()
    expected = oracles.check_grown(
        forest.arrays(), rows.tolist(), right.tolist(), settings, looked_at
    )
    np.testing.assert_allclose(logits(forest, rows), expected, rtol=0, atol=1e-9)


@given(learnable())
def test_what_was_grown_would_also_be_accepted_from_a_file(case):
    rows, right, settings = case
    forest = boosted(rows, right, settings)
    again = Forest.of_arrays(forest.arrays(), rows.shape[1], 1)
    assert np.array_equal(logits(again, rows), logits(forest, rows))


def noisy(count, seed=0):
    """What is right depends on two features together, on nan, and on luck."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 4))
    rows[:, 2] = rng.integers(0, 3, count)
    right = (rows[:, 0] * rows[:, 1] > 0) ^ (rng.random(count) < 0.1)
    rows[rng.random(count) < 0.2, 3] = nan
    right |= np.isnan(rows[:, 3])
    return rows, right


def test_trees_learn_what_no_single_feature_tells():
    rows, right = noisy(3000)
    fresh, fresh_right = noisy(3000, seed=1)
    assert ((logits(boosted(rows, right), fresh) > 0) == fresh_right).mean() > 0.85


def test_the_same_rows_grow_the_same_trees():
    one, other = (boosted(*noisy(2000)).arrays() for _ in range(2))
    for name, array in one.items():
        assert np.array_equal(array, other[name])


def test_trees_look_at_their_share_of_the_features_and_together_at_all():
    drawn = drawn_features(10, BoostSettings(trees=40, features=0.3))
    assert drawn.shape == (40, 3) and (np.diff(drawn) > 0).all()
    assert set(drawn.ravel()) == set(range(10))
    assert drawn_features(4, BoostSettings(trees=2)).tolist() == [[0, 1, 2, 3]] * 2
    assert drawn_features(1, BoostSettings(trees=1, features=0.01)).tolist() == [[0]]


def test_a_tree_has_no_more_leaves_and_no_smaller_ones_than_it_may():
    rows, right = noisy(2000)
    arrays = boosted(rows, right, BoostSettings(trees=5, leaves=9, leaf_rows=100)).arrays()
    for root in arrays["roots"]:
        leaves = [oracles.leaf_of(arrays, root, row) for row in rows]
        found, sizes = np.unique(leaves, return_counts=True)
        assert len(found) <= 9 and sizes.min() >= 100


def test_nan_goes_with_the_larger_part_where_there_was_none_to_learn_from():
    rows = np.array([[value] for value in (1.0, 1, 1, 2, 2)])
    right = rows[:, 0] == 2
    tree = BoostSettings(trees=1, leaves=2, leaf_rows=1)
    forest = boosted(rows, right, tree)
    assert logits(forest, np.array([[nan]])) == logits(forest, np.array([[1.0]]))
    forest = boosted(-rows, right, tree)
    assert logits(forest, np.array([[nan]])) == logits(forest, np.array([[-1.0]]))


def test_features_that_tell_nothing_grow_single_leaves():
    forest = boosted(np.ones((200, 2)), np.arange(200) % 4 == 0)
    assert (forest.features == LEAF).all()
    assert logits(forest, np.ones((1, 2))) == pytest.approx(np.log(1 / 3))


@given(st.lists(TIED | st.floats(allow_nan=True), min_size=1, max_size=40))
def test_few_numbers_have_a_bin_each(values):
    column = np.array(values)
    boundaries = bin_boundaries(column)
    bins = bins_of(column, boundaries)
    numbers = sorted({value for value in values if value == value})
    expected = [BINS if value != value else numbers.index(value) for value in values]
    assert bins.tolist() == expected
    assert (np.diff(boundaries) > 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_many_numbers_share_bins_in_ascending_order(seed):
    rng = np.random.default_rng(seed)
    column = np.round(rng.normal(size=20_000), 3)
    column[rng.random(20_000) < 0.8] = 0
    boundaries = bin_boundaries(column)
    bins = bins_of(column, boundaries)
    assert len(boundaries) < BINS and (np.diff(boundaries) > 0).all()
    assert (np.diff(bins[np.argsort(column)].astype(int)) >= 0).all()
    assert set(bins) == set(range(len(boundaries) + 1))
    # Four fifths of the rows are one number, and yet the others have most of the bins.
    assert len(boundaries) > 0.8 * BINS


def test_a_number_on_a_boundary_lies_below_it():
    boundaries = bin_boundaries(np.array([0.0, 1.0, 2.0]))
    assert boundaries.tolist() == [0.5, 1.5]
    assert bins_of(np.array([0.5, 1.5, 1.6]), boundaries).tolist() == [0, 1, 2]
