"""A decider accepts, and says how probable; nobody need ask what kind it is."""

from dataclasses import replace

import numpy as np
import pytest

from assent.core.decider import Decider
from assent.core.probabilities import Probabilities
from assent.core.queries import Queries, Subset
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.errors import DataError


class Doubling:
    """A rescorer whose scores are twice the model's."""

    def logits(self, shortlist):
        return 2 * shortlist.scores

    def stated(self):
        return {}

    def arrays(self):
        return {}


@pytest.fixture
def shortlist():
    """Query 0 is of slot 0 and has scores 1 and 3; query 1 is of slot 1 and has score 2."""
    queries = Queries.empty([0, 1], [0, 1], Subset.COMPLETE)
    scores = np.array([1, 3, 2], np.float32)
    return Shortlist(
        queries,
        np.array([0, 0, 1], np.int32),
        np.array([4, 5, 6], np.int32),
        scores,
        np.zeros(3, bool),
        np.zeros(2, np.float32),
    )


def test_thresholds_alone_accept_by_the_models_own_scores(shortlist):
    decider = Decider.of_thresholds("global", "f1", Thresholds.of([2.5, 1.5]))
    assert decider.accept(shortlist).tolist() == [False, True, True]
    assert not decider.needs_spread and np.isnan(decider.expected_precision).all()


def test_a_rescorer_decides_by_its_own_scores(shortlist):
    plain = Decider.of_thresholds("judge", "f1", Thresholds.of([2.5, 4.5]))
    judge = replace(plain, floors=Thresholds.of([0, 0]), rescorer=Doubling())
    assert judge.rescore(shortlist).tolist() == [2, 6, 4]
    assert judge.accept(shortlist).tolist() == [False, True, False]


def test_without_calibration_a_probability_is_the_sigmoid_of_the_score():
    decider = Decider.of_thresholds("global", "f1", Thresholds.of([0]))
    assert decider.probability([0.0, np.log(3)], [0, 0]).tolist() == pytest.approx([0.5, 0.75])


def test_floors_let_pass_what_is_accepted_and_what_is_probable_enough():
    flat = Probabilities.made([0, 0], [1, 0], [-np.inf] * 2, [0, 0])
    decider = Decider.of_thresholds("global", "f1", Thresholds.of([2, np.inf]), probabilities=flat)
    alone = decider.floors_for(np.inf).values
    reviewed = decider.floors_for(0.75).values
    assert alone.tolist() == [2, np.inf]
    assert reviewed[0] == pytest.approx(np.log(3)) and reviewed[1] == np.inf  # never over one half


def test_a_judge_is_asked_about_nothing_where_it_accepts_nothing():
    plain = Decider.of_thresholds("judge", "f1", Thresholds.of([0.5, np.inf]))
    judge = replace(plain, floors=Thresholds.of([-3, -4]), rescorer=Doubling())
    assert judge.floors_for(np.inf).values.tolist() == [-3, np.inf]
    assert judge.floors_for(0.5).values.tolist() == [-3, -4]


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(DataError, match="different lengths"):
        Decider("r", "f1", Thresholds.of([0]), Thresholds.of([0, 1]), np.zeros(1))
