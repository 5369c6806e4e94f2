"""The paper's searches, word for word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciding_oracles as oracles
from assent.core.scores import collect
from assent.deciding.paper import GLOBAL_GRID, Levels, logits, paper_global, paper_relation
from score_blocks import NUM_SLOTS, block, blocks, joined, queries_of

# Two within each step of the grid, so that sigmoids need not be exact at its lines, and 0 on one.
SPREAD = st.just([-5.0, -3.0, -2.0, -1.5, -1.0, -0.7, 0.0, 0.2, 0.6, 1.0, 1.7, 2.9, 6.0])


def levels_of(made):
    levels = Levels(queries_of(made), NUM_SLOTS)
    collect(made, levels)
    return levels


def probabilities(thresholds):
    return [1 / (1 + np.exp(-value)) for value in thresholds.values]


@given(blocks(SPREAD))
def test_the_global_threshold_is_the_best_of_the_grid(made):
    expected = oracles.paper_global(oracles.asked(made), NUM_SLOTS)
    assert probabilities(paper_global(levels_of(made))) == pytest.approx(list(expected.values()))


@given(blocks(SPREAD))
def test_thresholds_of_relations_are_those_of_appendix_b1(made):
    expected = oracles.paper_relation(oracles.asked(made), NUM_SLOTS)
    assert probabilities(paper_relation(levels_of(made))) == pytest.approx(list(expected.values()))


@given(blocks(SPREAD))
def test_levels_have_the_counts_of_every_line_of_the_grid(made):
    levels, groups = levels_of(made), oracles.by_relation(oracles.asked(made))
    for slot in range(NUM_SLOTS):
        for place, line in enumerate(GLOBAL_GRID):
            counted = oracles.count(
                groups.get(slot, []), lambda _, score, line=line: oracles.sigmoid(score) > line
            )
            found = levels.correct[slot, place], levels.accepted[slot, place], levels.relevant[slot]
            assert found == counted


@given(blocks(SPREAD))
def test_levels_do_not_depend_on_the_blocks(made):
    one, other = levels_of(made), levels_of([joined(made)])
    assert one.accepted.tolist() == other.accepted.tolist()
    assert one.correct.tolist() == other.correct.tolist()


def test_the_grid_ends_where_everything_and_where_nothing_is_accepted():
    assert logits((0.0, 0.5, 1.0)).tolist() == [-np.inf, 0.0, np.inf]


def test_where_nothing_is_right_the_search_stays_where_it_begins():
    levels = levels_of([block([[1.0, 2.0]], [[]])])
    assert paper_global(levels).values.tolist() == [0.0] * NUM_SLOTS
    assert paper_relation(levels).values.tolist() == [0.0] * NUM_SLOTS
