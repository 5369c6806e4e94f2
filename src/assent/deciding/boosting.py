"""Boosted trees for a yes or no, grown from histograms (Friedman, 2001; Ke et al., 2017).

Each tree corrects the logits of those before it: its leaves take one Newton step of the log loss.
The values of a feature are put into bins. A leaf sums up the slopes and curvatures of its rows in
each bin, and can be split between any two bins. The split that gains most is made next.

A tree may look at a share of the features only, so that no two of them are alike. Which ones is
drawn by the number of the tree alone, and one thread grows a model: the same rows give the same
bits, on any number of threads.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from assent.core.arrays import Mask, frozen
from assent.deciding.trees import LEAF, Forest

BINS = 255  # of the numbers of a feature, so that a bin fits into a byte
MISSING = BINS  # the bin of nan
SLOPE, CURVATURE, ROWS = range(3)  # what a histogram sums up
NO_GAIN = 1e-9  # less is a rounding error

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BoostSettings:
    trees: int = 100
    leaves: int = 31  # of a tree, at most
    leaf_rows: int = 50  # of a leaf, at least
    l2: float = 1.0  # added to the curvature of a leaf: small leaves take small steps
    rate: float = 0.1  # the share of a Newton step that a leaf takes
    features: float = 1.0  # the share of them that a tree looks at


DEFAULT = BoostSettings()


def boosted(rows: Values, right: Mask, settings: BoostSettings = DEFAULT) -> Forest:
    """A forest of one model: its logits say how probable it is that a row (row, feature) is right.

    Some of the rows must be right (row,) and some not. nan is told apart from every number.
    """
    boundaries = [bin_boundaries(column) for column in rows.T]
    bins = np.empty(rows.shape, np.uint8)
    for feature, column in enumerate(rows.T):
        bins[:, feature] = bins_of(column, boundaries[feature])
    share = right.mean()
    start = np.log(share / (1 - share))
    size = settings.trees * (2 * settings.leaves - 1)
    features, places, left, right_ = np.zeros((4, size), np.int32)
    missing_left, values = np.zeros(size, np.bool_), np.zeros(size)
    roots = np.zeros(settings.trees, np.int32)
    nodes = features, places, left, right_, missing_left, values
    sizes = np.array([len(column) for column in boundaries])
    looked_at = drawn_features(rows.shape[1], settings)
    grown = _boost(
        bins, sizes, right, start, settings.leaves, settings.leaf_rows, settings.l2, settings.rate,
        looked_at, nodes, roots,
    )  # fmt: skip
    # One more boundary, above all numbers: where a split only tells nan from them.
    table = np.full((len(boundaries), BINS), np.inf)
    for feature, column in enumerate(boundaries):
        table[feature, : len(column)] = column
    thresholds = np.where(features == LEAF, 0, table[features, places])
    return Forest(
        frozen(features[:grown], np.int32),
        frozen(thresholds[:grown], np.float64),
        frozen(left[:grown], np.int32),
        frozen(right_[:grown], np.int32),
        frozen(missing_left[:grown], np.bool_),
        frozen(values[:grown], np.float64),
        frozen(roots, np.int32),
        frozen(np.zeros(len(roots)), np.int32),
        frozen([start], np.float64),
    )


def drawn_features(count: int, settings: BoostSettings) -> NDArray[np.int64]:  # (tree, drawn)
    """The features that each tree looks at, ascending, at least one of `count`."""
    most = max(round(settings.features * count), 1)
    rng = np.random.default_rng(0)
    return np.sort([rng.permutation(count)[:most] for _ in range(settings.trees)])


def bin_boundaries(column: Values) -> Values:  # (boundary,)
    """Ascending boundaries between the bins of a feature (row,); a value on one lies below it.

    Each different number has a bin of its own if there are few. Else a number that n rows have
    counts as sqrt(n), and bins are about even: one frequent number, such as 0, leaves bins to the
    others.
    """
    numbers, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    last = np.arange(len(numbers) - 1)  # of each bin but the highest
    if len(numbers) > BINS:
        weights = np.sqrt(counts)
        centres = np.cumsum(weights) - weights / 2
        last = np.flatnonzero(np.diff((centres * (BINS / weights.sum())).astype(np.int64)))
    below, above = numbers[last], numbers[last + 1]
    with np.errstate(invalid="ignore", over="ignore"):
        middle = below + (above - below) / 2
    # The middle of two neighbouring floats is one of them, and infinity has none.
    return np.where((below <= middle) & (middle < above), middle, below)


def bins_of(column: Values, boundaries: Values) -> NDArray[np.uint8]:  # (row,)
    """The bin of each value of a feature (row,)."""
    bins = np.searchsorted(boundaries, column).astype(np.uint8)
    bins[np.isnan(column)] = MISSING
    return bins


@njit(nogil=True, cache=True)
def _boost(bins, sizes, right, start, leaves, leaf_rows, l2, rate, looked_at, nodes, roots):
    """Grows a tree for each of `roots`, and returns how many `nodes` these have in all.

    `sizes` (feature,) has the number of boundaries.
    """
    num_rows, num_features = bins.shape[0], looked_at.shape[1]
    logits, derivatives = np.full(num_rows, start), np.empty((num_rows, 2))
    order, aside = np.empty(num_rows, np.int32), np.empty(num_rows, np.int32)
    sums = np.empty((leaves, num_features, BINS + 1, 3))
    size = 0
    for tree in range(len(roots)):
        for row in range(num_rows):
            probability = 1 / (1 + np.exp(-logits[row]))
            derivatives[row, SLOPE] = probability - right[row]
            derivatives[row, CURVATURE] = probability * (1 - probability)
            order[row] = row
        roots[tree] = size
        size = _grow(
            bins, sizes, looked_at[tree], derivatives, order, aside, sums, logits, leaf_rows, l2,
            rate, nodes, size,
        )  # fmt: skip
    return size


@njit(nogil=True, cache=True)
def _grow(
    bins, sizes, looked_at, derivatives, order, aside, sums, logits, leaf_rows, l2,
    rate, nodes, size,
):  # fmt: skip
    """Grows a tree from node `size` on, adds it to the logits; returns the new number of nodes.

    A leaf holds the rows order[starts[leaf]:ends[leaf]]. sums[held[leaf]] is its histogram.
    """
    features, places, left, right, missing_left, values = nodes
    leaves = len(sums)
    starts, ends, held = np.zeros((3, leaves), np.int64)
    node_of, best_features, best_places = np.zeros((3, leaves), np.int64)
    totals, gains = np.zeros((leaves, 3)), np.zeros(leaves)
    best_missing_left = np.zeros(leaves, np.bool_)

    grown, fresh = 0, (0, 0)  # leaves that are there; those whose best split is not known yet
    ends[0], node_of[0], features[size] = len(order), size, LEAF
    _sum_up(bins, looked_at, derivatives, order, sums[0])
    size, grown = size + 1, 1
    while True:
        for leaf in fresh:
            total, mine = totals[leaf], sums[held[leaf]]
            total[:] = 0
            for place in range(BINS + 1):
                for kind in range(3):
                    total[kind] += mine[0, place, kind]
            found = _best_split(mine, total, sizes, looked_at, leaf_rows, l2)
            gains[leaf], best_features[leaf], best_places[leaf], best_missing_left[leaf] = found
        leaf = np.argmax(gains[:grown])
        if grown == leaves or gains[leaf] <= NO_GAIN:
            break

        node, feature, place = node_of[leaf], best_features[leaf], best_places[leaf]
        features[node], places[node] = feature, place
        missing_left[node] = best_missing_left[leaf]
        left[node], right[node] = size, size + 1
        features[size], features[size + 1] = LEAF, LEAF
        middle = _divide(
            bins[:, feature], place, missing_left[node], order[starts[leaf] : ends[leaf]], aside
        )
        starts[grown], ends[grown] = starts[leaf] + middle, ends[leaf]
        ends[leaf] = starts[grown]
        node_of[leaf], node_of[grown] = size, size + 1

        # The histogram of the smaller part is summed up; that of the larger one is what remains.
        smaller = leaf if ends[leaf] - starts[leaf] < ends[grown] - starts[grown] else grown
        larger = leaf + grown - smaller
        held[larger], held[smaller] = held[leaf], grown
        _sum_up(bins, looked_at, derivatives, order[starts[smaller] : ends[smaller]], sums[grown])
        _subtract(sums[held[larger]], sums[grown])
        fresh = leaf, grown
        size, grown = size + 2, grown + 1

    for leaf in range(grown):
        value = -rate * totals[leaf, SLOPE] / (totals[leaf, CURVATURE] + l2)
        values[node_of[leaf]] = value
        for row in order[starts[leaf] : ends[leaf]]:
            logits[row] += value
    return size


@njit(nogil=True, cache=True)
def _sum_up(bins, looked_at, derivatives, rows, sums):
    """The histogram (feature looked at, bin, 3) of these rows."""
    sums[:] = 0
    for row in rows:
        slope, curvature = derivatives[row, SLOPE], derivatives[row, CURVATURE]
        for place in range(len(looked_at)):
            mine = sums[place, bins[row, looked_at[place]]]
            mine[SLOPE] += slope
            mine[CURVATURE] += curvature
            mine[ROWS] += 1


@njit(nogil=True, cache=True)
def _subtract(sums, part):
    for feature in range(sums.shape[0]):
        for place in range(sums.shape[1]):
            for kind in range(3):
                sums[feature, place, kind] -= part[feature, place, kind]


@njit(nogil=True, cache=True)
def _best_split(sums, total, sizes, looked_at, leaf_rows, l2):
    """What it gains, its feature, the boundary, and whether nan goes left.

    Where there is no nan, it is to go with the larger part.
    """
    found = 0.0, 0, 0, False
    for column in range(len(looked_at)):
        feature, mine = looked_at[column], sums[column]
        absent = mine[MISSING]
        slope, curvature, rows = 0.0, 0.0, 0.0
        for place in range(sizes[feature] + 1):
            slope += mine[place, SLOPE]
            curvature += mine[place, CURVATURE]
            rows += mine[place, ROWS]
            gain = _gain(slope, curvature, rows, total, leaf_rows, l2)
            if gain > found[0]:
                found = gain, feature, place, absent[ROWS] == 0 and 2 * rows > total[ROWS]
            if absent[ROWS] > 0:
                gain = _gain(
                    slope + absent[SLOPE], curvature + absent[CURVATURE], rows + absent[ROWS],
                    total, leaf_rows, l2,
                )  # fmt: skip
                if gain > found[0]:
                    found = gain, feature, place, True
    return found


@njit(nogil=True, cache=True)
def _gain(slope, curvature, rows, total, leaf_rows, l2):
    """Twice what the loss falls by if rows with these sums go one way and the rest the other."""
    if rows < leaf_rows or total[ROWS] - rows < leaf_rows:
        return 0.0
    rest, bent = total[SLOPE] - slope, total[CURVATURE] - curvature
    return (
        slope**2 / (curvature + l2)
        + rest**2 / (bent + l2)
        - total[SLOPE] ** 2 / (total[CURVATURE] + l2)
    )


@njit(nogil=True, cache=True)
def _divide(bins, place, missing_left, rows, aside):
    """Puts the rows that go left first, all in their old order; returns how many go left."""
    kept, moved = 0, 0
    for row in rows:
        mine = bins[row]
        if missing_left if mine == MISSING else mine <= place:
            rows[kept] = row
            kept += 1
        else:
            aside[moved] = row
            moved += 1
    rows[kept:] = aside[:moved]
    return kept
