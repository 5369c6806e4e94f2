"""Probabilities fitted on valid: the likeliest sigmoids, held back where data are few."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize

import deciding_oracles as oracles
from assent.core.scores import collect
from assent.core.sigmoids import FLATTEST
from assent.deciding import calibrating
from assent.deciding.calibrating import HARDLY, SHIFT, STRETCH, Tally, calibrated
from assent.deciding.shortlisting import Highest
from score_blocks import ANY, FEW, NUM_SLOTS, block, blocks, queries_of, shortlist


def tally_of(made):
    tally = Tally(NUM_SLOTS)
    collect(made, tally)
    return tally


def likeliest(scores, right, shift, stretch):
    """By a search that knows nothing of Newton's method."""

    def cost(line):
        sums = line[0] + line[1] * np.array(scores, np.float64)
        losses = np.logaddexp(0, sums) - np.array(right) * sums
        return losses.sum() + shift / 2 * line[0] ** 2 + stretch / 2 * (line[1] - 1) ** 2

    return minimize(cost, [0.0, 1.0], bounds=[(None, None), (FLATTEST, None)], tol=1e-12).x


@settings(max_examples=20)
@given(blocks(FEW, most_queries=20, most_slots=2))
def test_sigmoids_are_the_likeliest_of_all(made):
    found, queries = calibrated(shortlist(made), tally_of(made)), oracles.asked(made)
    rows = [
        (query.relation, score, entity in query.answers)
        for query in queries
        for entity, score in query.scores.items()
    ]
    start, slope = likeliest([s for _, s, _ in rows], [r for *_, r in rows], HARDLY, HARDLY)
    for slot in range(NUM_SLOTS):
        mine = [(start + slope * s, r) for relation, s, r in rows if relation == slot]
        shift, stretch = likeliest([s for s, _ in mine], [r for _, r in mine], SHIFT, STRETCH)
        expected = 1 / (1 + np.exp(-(shift + stretch * (start + slope * np.arange(-3.0, 4.0)))))
        stated = found.of(np.arange(-3.0, 4.0), np.full(7, slot))
        if stretch > 1.01 * FLATTEST and slope > 1.01 * FLATTEST:
            assert stated == pytest.approx(expected, abs=1e-3)


@given(blocks(ANY))
def test_whatever_the_scores_there_are_probabilities_and_they_rise(made):
    found = calibrated(shortlist(made), tally_of(made))
    for slot in range(NUM_SLOTS):
        stated = found.of(np.linspace(-80, 80, 50), np.full(50, slot))
        assert ((stated >= 0) & (stated <= 1)).all() and (np.diff(stated) >= -1e-12).all()


@given(blocks())
def test_all_candidates_are_counted_and_answers_that_are_candidates(made):
    tally, groups = tally_of(made), oracles.by_relation(oracles.asked(made))
    for slot in range(NUM_SLOTS):
        mine = groups.get(slot, [])
        assert tally.candidates[slot] == sum(len(query.scores) for query in mine)
        assert tally.right[slot] == sum(len(query.answers & set(query.scores)) for query in mine)


def test_a_relation_that_valid_lacks_gets_the_sigmoid_for_all():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(200, 1))
    answers = [[0] if rng.random() < 1 / (1 + np.exp(-2 * s[0])) else [] for s in scores]
    found = calibrated(*both([block(scores, answers, np.zeros(200))]))
    assert found.slopes[3] == pytest.approx(found.slopes[0], rel=0.05)
    assert found.of([0.0], [3]) == pytest.approx(found.of([0.0], [0]), abs=0.05)


def both(made):
    return shortlist(made), tally_of(made)


def test_with_much_data_a_relation_states_what_is_true_and_with_few_what_all_do():
    rng = np.random.default_rng(1)
    often, seldom = rng.random((2000, 1)) < 0.9, rng.random((3, 1)) < 0.0
    right = np.concatenate([often, seldom])[:, 0]
    relations = [0] * 2000 + [1] * 3
    made = [block(np.zeros((2003, 1)), [[0] if r else [] for r in right], relations)]
    found = calibrated(*both(made))
    assert found.of([0.0], [0])[0] == pytest.approx(right[:2000].mean(), abs=0.005)
    assert 0.4 < found.of([0.0], [1])[0] < 0.9


def test_candidates_below_the_floors_count_at_their_real_number():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(50, 400))
    answers = [sorted(rng.permutation(400)[:2].tolist()) for _ in range(50)]
    made = [block(scores, answers, np.zeros(50))]
    highest = Highest(queries_of(made), NUM_SLOTS)
    collect(made, highest)
    kept, tally = highest.result(), tally_of(made)
    found = calibrated(kept, tally)
    floor = kept.floors[0]
    rest = [(s, e in a) for row, a in zip(scores, answers, strict=True) for e, s in enumerate(row)]
    below = [right for score, right in rest if np.float32(score) <= floor]
    assert np.isfinite(floor) and sum(below) > 0
    assert found.below[0] == pytest.approx(sum(below) / len(below), rel=1e-2)
    assert found.of([floor - 1.0], [0])[0] == found.below[0]


def test_newton_has_found_the_end_before_its_turns_are_over(monkeypatch):
    rng = np.random.default_rng(3)
    scores = rng.normal(-8, 4, size=(300, 3))
    answers = [[0] if s[0] > -5 else [] for s in scores]
    made = [block(scores, answers, rng.integers(0, 3, 300))]
    early = calibrated(*both(made))
    monkeypatch.setattr(calibrating, "TURNS", 1000)
    late = calibrated(*both(made))
    assert early.intercepts == pytest.approx(late.intercepts, abs=1e-6)
