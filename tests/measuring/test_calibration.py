"""What probabilities state and what is true: every candidate, one by one."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciding_oracles as oracles
from assent.core.scores import collect
from assent.measuring import calibration as measured
from assent.measuring.calibration import BINS, Reliability
from score_blocks import NUM_SLOTS, block, blocks, joined

# None of them at the edge of a bin, but 0.
SPREAD = st.just([-90.0, -20.0, -4.0, -3.0, -2.5, -1.0, 0.0, 0.3, 1.0, 2.0, 3.5, 20.0, 95.0])


def calibration(made):
    collector = Reliability(NUM_SLOTS)
    collect(made, collector)
    return collector.counted()


def candidates(made):
    """Relation, probability, and whether it is an answer."""
    for query in oracles.asked(made):
        for entity, score in query.scores.items():
            probability = oracles.sigmoid(score)
            yield query.relation, probability, entity in query.answers


def bin_of(probability):
    return min(math.floor(probability * BINS), BINS - 1)


@given(blocks(SPREAD))
def test_candidates_are_counted_by_relation_and_probability(made):
    found, all_of_them = calibration(made), list(candidates(made))
    cells = Counter((slot, bin_of(p)) for slot, p, _ in all_of_them)
    right = Counter((slot, bin_of(p)) for slot, p, is_right in all_of_them if is_right)
    for cell in np.ndindex(NUM_SLOTS, BINS):
        stated = sum(p for slot, p, _ in all_of_them if (slot, bin_of(p)) == cell)
        assert found.candidates[cell] == cells[cell] and found.right[cell] == right[cell]
        assert found.stated[cell] == pytest.approx(stated, abs=1e-5)


@given(blocks(SPREAD))
def test_errors_are_averages_over_all_candidates(made):
    found, all_of_them = calibration(made), list(candidates(made))
    brier = oracles.mean([(p - is_right) ** 2 for _, p, is_right in all_of_them])
    assert found.brier() == pytest.approx(brier, abs=1e-5, nan_ok=True)
    for error, lowest in ((found.error(), 0), (found.error_above_lowest_bin(), 1)):
        mine = [(p, is_right) for _, p, is_right in all_of_them if bin_of(p) >= lowest]
        gaps = [
            abs(sum(p - is_right for p, is_right in mine if bin_of(p) == place))
            for place in range(BINS)
        ]
        assert error == pytest.approx(oracles.ratio(sum(gaps), len(mine)), abs=1e-5, nan_ok=True)


@given(blocks(SPREAD))
def test_relations_have_errors_of_their_own(made):
    errors, briers = calibration(made).by_relation()
    for slot in range(NUM_SLOTS):
        mine = [part for part in oracles.asked(made) if part.relation == slot]
        truth = [
            (oracles.sigmoid(score), entity in query.answers)
            for query in mine
            for entity, score in query.scores.items()
        ]
        gaps = [sum(p - right for p, right in truth if bin_of(p) == place) for place in range(BINS)]
        expected = (
            oracles.ratio(sum(map(abs, gaps)), len(truth)),
            oracles.mean([(p - right) ** 2 for p, right in truth]),
        )
        assert (errors[slot], briers[slot]) == pytest.approx(expected, abs=1e-5, nan_ok=True)


@given(blocks(SPREAD))
def test_calibration_does_not_depend_on_the_blocks(made):
    one, other = calibration(made), calibration([joined(made)])
    assert one.candidates.tolist() == other.candidates.tolist()
    assert one.right.tolist() == other.right.tolist()
    assert one.brier() == pytest.approx(other.brier(), nan_ok=True)


def test_calibration_does_not_depend_on_how_many_tiles_are_looked_at_together(monkeypatch):
    scores = np.random.default_rng(0).normal(-3, 2, (3, 1000))
    made = [block(scores, [[0, 999], [], [500]])]
    whole = calibration(made)
    monkeypatch.setattr(measured, "CELLS", 1)  # one
    one = calibration(made)
    for column in ("candidates", "right", "stated", "squares"):
        assert getattr(one, column).tolist() == getattr(whole, column).tolist()


def test_probabilities_that_are_right_on_average_have_no_error():
    made = [block(np.zeros((2, 4)), [[0, 1], [2, 3]])]
    found = calibration(made)
    stated, true = found.reliability()
    assert found.error() == 0 and found.brier() == 0.25
    assert stated[10] == true[10] == 0.5
    assert np.isnan(stated[9]) and np.isnan(true[9])


def test_a_probability_of_one_belongs_to_the_last_bin():
    assert calibration([block([[100.0]], [[0]])]).candidates[0, -1] == 1


def test_without_candidates_nothing_is_defined():
    found = calibration([block([[-np.inf]], [[]])])
    assert np.isnan([found.error(), found.error_above_lowest_bin(), found.brier()]).all()


def test_calibration_is_about_candidates_only():
    reliability = Reliability(2)
    reliability.add(block([[0, -np.inf, -np.inf], [0, -np.inf, 0]], [[1], [0, 1]]))
    found = reliability.counted()
    assert found.candidates.sum() == 3 and found.right.sum() == 1
    assert found.brier() == pytest.approx(0.5**2)
    assert found.error() == pytest.approx(abs(3 * 0.5 - 1) / 3)
