"""Trees that judge candidates they never saw, from neither end of the fact."""

from dataclasses import replace

import numpy as np
import pytest

from assent.core.arrays import frozen
from assent.core.counts import f1
from assent.core.queries import Queries, Subset
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import Vocabulary
from assent.deciding.curves import best_single
from assent.deciding.features import Features
from assent.deciding.judge import FOLDS, Judge, folds_of, judged_by, train_forest
from assent.deciding.objectives import FBeta
from assent.errors import DataError

QUERIES, CANDIDATES = 400, 10
NAMES = Vocabulary(tuple(map(str, range(QUERIES))), ("knows",))


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


def trained(shortlist, known):
    """A forest, its best threshold, and its decisions, all of them out of fold."""
    forest = train_forest(shortlist, known, NAMES)
    judged = judged_by(forest, shortlist, known)
    threshold = Thresholds.single(best_single(judged, FBeta()), 2)
    return forest, threshold, judged.accepted(threshold)


def accepted_by(forest, threshold, shortlist, known):
    judge = Judge(known.names, forest, (), lambda _: known)
    return threshold.accept(judge.logits(shortlist), shortlist.relations)


def reached(shortlist, accepted):
    return f1(shortlist.counts(accepted).total())


def test_a_judge_beats_one_threshold_also_on_queries_it_never_saw():
    shortlist, known = simulated()
    single = Thresholds.single(best_single(shortlist, FBeta()), 2)
    forest, threshold, out_of_fold = trained(shortlist, known)
    assert reached(shortlist, out_of_fold) > reached(shortlist, shortlist.accepted(single)) + 0.1
    fresh, fresh_known = simulated(seed=1)
    accepted = accepted_by(forest, threshold, fresh, fresh_known)
    assert reached(fresh, accepted) > reached(fresh, fresh.accepted(single)) + 0.1


def test_out_of_fold_is_no_better_than_guessing_where_there_is_nothing_to_learn():
    shortlist, known = simulated()
    rng = np.random.default_rng(0)
    noise = replace(known, values=rng.normal(size=known.values.shape))
    _, _, out_of_fold = trained(shortlist, noise)
    everything = np.ones(len(shortlist), dtype=bool)
    assert reached(shortlist, out_of_fold) < reached(shortlist, everything) + 0.02


def test_the_same_judge_is_trained_on_any_number_of_threads(monkeypatch):
    shortlist, known = simulated()
    forests = []
    for threads in (1, 2, FOLDS):
        monkeypatch.setattr("assent.deciding.judge.get_num_threads", lambda count=threads: count)
        forests.append(train_forest(shortlist, known, NAMES).arrays())
    for other in forests[1:]:
        for name, array in forests[0].items():
            assert np.array_equal(array, other[name])


def test_on_the_queries_of_valid_it_decides_as_it_did_out_of_fold():
    shortlist, known = simulated()
    forest, threshold, out_of_fold = trained(shortlist, known)
    assert np.array_equal(accepted_by(forest, threshold, shortlist, known), out_of_fold)


def test_what_is_right_of_a_query_never_changes_how_it_is_judged():
    """Neither its own answers nor the same facts asked for from their other end."""
    shortlist, known = simulated()
    forest = train_forest(shortlist, known, NAMES)
    slots, anchors = shortlist.relations, shortlist.queries.anchors[shortlist.rows]
    mine, mirrored = folds_of(slots, anchors), folds_of(1 - slots, shortlist.entities)
    touched = (mine == 2) | (mirrored == 2)
    turned = replace(shortlist, right=frozen(shortlist.right ^ touched, np.bool_))
    other = train_forest(turned, known, NAMES)
    asked = np.full(len(shortlist), 2)
    one, two = (each.logits(known.values, asked) for each in (forest, other))
    assert np.array_equal(one, two)


def test_folds_are_even_and_depend_on_slot_and_anchor():
    anchors = np.arange(6000, dtype=np.int32)
    one, other = (folds_of(np.full_like(anchors, slot), anchors) for slot in (0, 1))
    assert (np.abs(np.bincount(one, minlength=FOLDS) - 6000 / FOLDS) < 150).all()
    assert abs((one == other).mean() - 1 / FOLDS) < 0.03


def test_other_features_than_those_of_its_training_are_refused():
    shortlist, known = simulated()
    forest, _, _ = trained(shortlist, known)
    other = replace(known, names=("level", "rank"))
    judge = Judge(known.names, forest, (), lambda _: other)
    with pytest.raises(DataError, match="other features: score"):
        judge.logits(shortlist)


def test_valid_without_answers_trains_no_judge():
    shortlist, known = simulated()
    nothing = replace(shortlist, right=frozen(np.zeros(len(shortlist)), np.bool_))
    with pytest.raises(DataError, match="too few answers"):
        train_forest(nothing, known, NAMES)


def test_there_are_as_many_models_as_folds():
    assert len(train_forest(*simulated(), NAMES).starts) == FOLDS
