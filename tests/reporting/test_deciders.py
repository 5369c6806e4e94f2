"""What tuning found, in a table and in lines."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import assent
import toy
from assent.core.thresholds import Thresholds
from assent.reporting.deciders import found_lines, thresholds_grid


@pytest.fixture(scope="module")
def tuned():
    benchmark = toy.built(toy.crowd(0, 40, 3, 8), seed=1)
    run = assent.train(benchmark, "distmult", changes=["model.dim=8", "train.epochs=2"])
    return benchmark, assent.tune(run, "global")


def deciding(tuned, values):
    benchmark, decider = tuned
    return benchmark, replace(decider, rule="per-relation", thresholds=Thresholds.of(values))


def test_relations_that_accept_nothing_are_counted_and_are_no_part_of_the_mean(tuned):
    benchmark = tuned[0]
    asked = np.unique(benchmark.valid.relations)
    values = np.zeros(benchmark.vocabulary.num_slots)
    values[asked[0]], values[asked[1]] = np.inf, 2.0
    grid = thresholds_grid(*reversed(deciding(tuned, values)))
    ((_, relations, mean, least, most, nothing),) = grid.rows
    assert (relations.value, nothing.value) == (len(asked), 1)
    assert least.value == 0.5 and most.value == expit(2.0)
    assert mean.value == pytest.approx((0.5 * (len(asked) - 2) + expit(2.0)) / (len(asked) - 1))
    assert grid.notes == [f"mean, min and max are of the {len(asked) - 1} that accept something"]


def test_where_all_accept_nothing_there_is_no_mean(tuned):
    benchmark = tuned[0]
    values = np.full(benchmark.vocabulary.num_slots, np.inf)
    grid = thresholds_grid(*reversed(deciding(tuned, values)))
    assert [cell.value for cell in grid.rows[0][2:5]] == [None] * 3
    assert grid.rows[0][5].value == grid.rows[0][1].value and not grid.notes


@pytest.mark.parametrize(
    ("shrink", "said"),
    [
        (0.0, "from its own answers alone"),
        (1.0, "is lent 1 answer of all"),
        (8.0, "is lent 8 answers of all"),
        (np.inf, "all relations have one threshold"),
    ],
)
def test_what_is_lent_is_said_in_two_lines(tuned, shrink, said):
    trials = [(0.0, 0.1), (1.0, 0.2), (np.inf, 0.15)]
    found = replace(tuned[1], found={"shrink": shrink, "trials": trials})
    first, second = found_lines(found)
    assert said in first
    assert second.startswith("F1 on valid") and second.endswith(
        ": none .100, 1 .200, one threshold for all .150"
    )
