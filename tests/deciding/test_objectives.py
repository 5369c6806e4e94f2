"""Objectives: their names, and what they make of counts."""

import numpy as np
import pytest

from assent.core.counts import Counts
from assent.deciding.objectives import AtLeast, FBeta, objective
from assent.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f1", FBeta(1.0)),
        ("f0.5", FBeta(0.5)),
        ("f2", FBeta(2.0)),
        ("precision=0.9", AtLeast("precision", 0.9)),
        ("precision=1", AtLeast("precision", 1.0)),
        ("recall=.5", AtLeast("recall", 0.5)),
    ],
)
def test_a_name_is_read_and_given_back(text, expected):
    assert objective(text) == expected
    assert objective(expected.name) == expected


@pytest.mark.parametrize(
    "text",
    ["", "f", "f0", "f-1", "fnan", "finf", "f1=2", "fone", "F1", "accuracy", "precision",
     "precision=", "precision=0", "precision=1.1", "precision=nan", "precision=90%", "recall=-1",
     "recall==1", "recall=0.5=1", "=0.5", "=", "mrr"],
)  # fmt: skip
def test_anything_else_is_refused_and_what_would_be_right_is_named(text):
    with pytest.raises(ConfigError, match=r"choose f1, .*precision=P or recall=R") as refused:
        objective(text)
    assert repr(text) in str(refused.value)


def test_counts_that_come_to_nothing_have_the_value_zero():
    assert FBeta().values(Counts(0, 0, 0)).tolist() == 0
    assert FBeta().values(Counts(*np.array([[0, 1], [0, 1], [1, 1]]))).tolist() == [0, 1]


def test_recall_is_wanted_only_where_precision_is_reached():
    counts = Counts(np.array([1, 2, 3, 0]), np.array([1, 4, 7, 0]), np.full(4, 4))
    assert AtLeast("precision", 0.5).values(counts).tolist() == [0.25, 0.5, -np.inf, -np.inf]
    assert AtLeast("recall", 0.5).values(counts).tolist() == [-np.inf, 0.5, 3 / 7, -np.inf]


def test_a_larger_beta_asks_for_recall():
    cautious, generous = Counts(1, 1, 4), Counts(4, 10, 4)
    assert FBeta(0.5).values(cautious) > FBeta(0.5).values(generous)
    assert FBeta(2.0).values(cautious) < FBeta(2.0).values(generous)
