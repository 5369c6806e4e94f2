"""Count first, divide last; what cannot be divided is not a number."""

import numpy as np
import pytest

from assent.core.counts import Counts, f1, f_beta, precision, ratio, recall


def test_accepting_nothing_leaves_precision_undefined_and_recall_zero():
    counts = Counts(correct=0, accepted=0, relevant=3)
    assert np.isnan(precision(counts)) and recall(counts) == 0 and f1(counts) == 0


def test_where_nothing_is_relevant_recall_is_undefined_and_precision_zero():
    counts = Counts(correct=0, accepted=2, relevant=0)
    assert precision(counts) == 0 and np.isnan(recall(counts)) and f1(counts) == 0


def test_nothing_of_nothing_is_undefined_in_every_way():
    counts = Counts(0, 0, 0)
    assert all(np.isnan(metric(counts)) for metric in (precision, recall, f1))


def test_ratios_of_arrays_are_arrays_and_of_numbers_numbers():
    assert np.array_equal(
        ratio(np.array([1, 2, 0]), np.array([2, 0, 4])), [0.5, np.nan, 0.0], equal_nan=True
    )
    assert isinstance(ratio(1, 4), float)


def test_f_beta_is_the_harmonic_mean_weighted_by_beta():
    counts = Counts(correct=2, accepted=5, relevant=4)
    p, r = 2 / 5, 2 / 4
    assert f1(counts) == pytest.approx(2 * p * r / (p + r))
    for beta in (0.5, 2.0, 3.0):
        weight = beta * beta
        assert f_beta(counts, beta) == pytest.approx((1 + weight) * p * r / (weight * p + r))


COUNTS = Counts(np.array([1, 0, 2]), np.array([1, 3, 2]), np.array([4, 0, 2]))


def numbers(counts):
    return [
        np.asarray(part).tolist() for part in (counts.correct, counts.accepted, counts.relevant)
    ]


def test_adding_taking_and_totalling_work_column_by_column():
    assert numbers(Counts(1, 2, 3) + Counts(10, 20, 30)) == [11, 22, 33]
    assert numbers(COUNTS.total()) == [3, 6, 6]
    assert numbers(COUNTS.take([2, 0])) == [[2, 1], [2, 1], [2, 4]]
    assert numbers(COUNTS.take(np.array([False, True, False]))) == [[0], [3], [0]]


def test_groups_are_summed_and_those_without_members_are_zero():
    assert numbers(COUNTS.by(np.array([2, 0, 2]), 4)) == [[0, 0, 3, 0], [3, 0, 3, 0], [0, 0, 6, 0]]
    assert numbers(COUNTS.take([]).by(np.array([], int), 2)) == [[0, 0]] * 3


def test_no_counts_total_to_nothing():
    assert numbers(COUNTS.take(np.zeros(3, bool)).total()) == [0, 0, 0]
