import sys
from dataclasses import replace

import numpy as np
import pytest

from assent.core.arrays import frozen
from assent.core.counts import f1
from assent.core.queries import Queries, Subset
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.deciding.objectives import FBeta
from assent.deciding.rules import best_single
from assent.errors import ConfigError, DataError
from assent.judging.features import Features
from assent.judging.judge import FOLDS, mirrored_folds, train_judge

QUERIES, CANDIDATES = 400, 10


def simulated(seed=0):
    """Scores that mean different things in different queries, and a feature that says which."""
    rng = np.random.default_rng(seed)
    level = rng.normal(0, 3, QUERIES)
    right = rng.random((QUERIES, CANDIDATES)) < 0.15
    scores = rng.normal(level[:, None] + 3.0 * right, 1)
    rows, entities = np.nonzero(np.ones_like(right))
    answers = entities[right.ravel()]
    queries = Queries(
        frozen(np.arange(QUERIES)),
        frozen(np.zeros(QUERIES)),
        frozen(np.append(0, np.cumsum(right.sum(1))), np.int64),
        frozen(answers),
        frozen(np.full(QUERIES, Subset.COMPLETE)),
    )
    shortlist = Shortlist(
        queries,
        frozen(rows),
        frozen(entities),
        frozen(scores.ravel(), np.float32),
        frozen(right.ravel(), np.bool_),
        frozen(np.full(2, -np.inf), np.float32),
    )
    known = Features(("score", "level"), np.stack([scores.ravel(), level[rows]], axis=1))
    return shortlist, known


def reached(shortlist, accepted):
    return f1(shortlist.counts(accepted).total())


def test_a_judge_beats_one_threshold_also_on_queries_it_never_saw():
    shortlist, known = simulated()
    single = Thresholds.single(best_single(shortlist, FBeta()), 2)
    judge, out_of_fold = train_judge(shortlist, known, FBeta())
    assert reached(shortlist, out_of_fold) > reached(shortlist, shortlist.accepted(single)) + 0.1
    fresh, fresh_known = simulated(seed=1)
    gained = reached(fresh, judge.accept(fresh_known)) - reached(fresh, fresh.accepted(single))
    assert gained > 0.1


def test_out_of_fold_is_no_better_than_chance_where_there_is_nothing_to_learn():
    shortlist, known = simulated()
    rng = np.random.default_rng(0)
    noise = replace(known, values=rng.normal(size=known.values.shape))
    _, out_of_fold = train_judge(shortlist, noise, FBeta())
    everything = np.ones(len(shortlist), dtype=bool)
    assert reached(shortlist, out_of_fold) < reached(shortlist, everything) + 0.02


def test_the_same_seed_trains_the_same_judge():
    shortlist, known = simulated()
    one, other = (train_judge(shortlist, known, FBeta(), seed=3)[0] for _ in range(2))
    assert one.cut == other.cut
    for name, array in one.forest.arrays().items():
        assert np.array_equal(array, other.forest.arrays()[name])


def test_a_fact_asked_from_its_other_end_has_the_fold_of_that_query():
    shortlist, _ = simulated()
    queries = Queries.grouped(
        np.array([3, 5, 7], np.int32), np.array([0, 1, 0], np.int32), np.array([5, 3, 9], np.int32)
    )
    folds = np.array([2, 0, 1])  # of (3, 0), (7, 0) and (5, 1), the order of grouped queries
    asked = replace(
        shortlist,
        queries=queries,
        rows=frozen([0, 0, 1, 2, 2]),
        entities=frozen([5, 6, 5, 3, 4]),
        scores=frozen(np.zeros(5), np.float32),
        right=frozen(np.zeros(5), np.bool_),
    )
    assert mirrored_folds(asked, folds).tolist() == [1, -1, 1, 2, -1]


def test_other_features_than_those_of_its_training_are_refused():
    shortlist, known = simulated()
    judge, _ = train_judge(shortlist, known, FBeta())
    with pytest.raises(DataError, match="other features"):
        judge.accept(replace(known, names=("level", "score")))


def test_valid_without_answers_trains_no_judge():
    shortlist, known = simulated()
    nothing = replace(shortlist, right=frozen(np.zeros(len(shortlist)), np.bool_))
    with pytest.raises(DataError, match="too few answers"):
        train_judge(nothing, known, FBeta())


def test_without_scikit_learn_one_line_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(ConfigError, match=r"assent\[judge\]"):
        train_judge(*simulated(), FBeta())


def test_there_are_as_many_models_as_folds():
    judge, _ = train_judge(*simulated(), FBeta())
    assert len(judge.forest.starts) == FOLDS
