"""A judge of candidates: boosted trees over features, cross-fitted on valid.

Each query belongs to a fold, and is only ever judged by trees that saw none of its candidates, from
neither end of the fact. That holds on test as well: many of its facts are asked for in valid from
their other end, and trees that saw them there would have been told the answer. So judging valid out
of fold is just what happens on test, and a threshold found there fits.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray
from scipy.special import expit

from assent.core.arrays import Ids, Keys, frozen
from assent.core.counts import f1
from assent.core.decider import Decider
from assent.core.pairs import joined
from assent.core.queries import SETS, WITH_ANSWERS
from assent.core.scores import Scores
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import Vocabulary
from assent.deciding.boosting import BoostSettings, boosted
from assent.deciding.curves import best_single
from assent.deciding.features import Features
from assent.deciding.graph import LINKS
from assent.deciding.promising import promised
from assent.deciding.shortlisting import Highest
from assent.deciding.trees import Forest
from assent.deciding.tuning import Source, Tuning
from assent.errors import DataError

PER_ANSWER = 6  # candidates looked at for each answer; more made no better judges
FOLDS = 6
MANY = 100_000  # candidates to learn from, above which more and larger trees do not overfit
FEW_TREES = BoostSettings(trees=200, leaves=31, l2=10, rate=0.05, features=0.3)
MANY_TREES = BoostSettings(trees=600, leaves=63, l2=10, rate=0.05, features=0.2)
MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))  # so that near ids fall far apart


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """Gives shortlisted candidates the logits of its trees; a `Rescorer`."""

    names: tuple[str, ...]  # of the features that the trees look at
    forest: Forest
    sources: tuple[Source, ...]  # the run's own model, then the others
    features: Callable[[Shortlist], Features]  # bound to these models and to the graph

    def logits(self, shortlist: Shortlist) -> Scores:  # (candidate,)
        return judged_by(self.forest, shortlist, self.features(shortlist).only(self.names)).scores

    def stated(self) -> dict[str, Any]:
        runs = [{"path": source.path, "sha256": source.sha256} for source in self.sources]
        return {"features": list(self.names), "runs": runs}

    def arrays(self) -> dict[str, NDArray[Any]]:
        return self.forest.arrays()

    @classmethod
    def restored(
        cls,
        stated: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        bind: Callable[[tuple[Source, ...]], Callable[[Shortlist], Features]],
    ) -> Self:
        """A judge from a file; `bind` gives the features that come from these sources."""
        names = stated["features"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("features are a list of names")
        sources = tuple(Source(str(run["path"]), str(run["sha256"])) for run in stated["runs"])
        forest = Forest.of_arrays(arrays, len(names), FOLDS)
        return cls(tuple(names), forest, sources, bind(sources))


def judge(tuning: Tuning) -> Decider:
    """Trains a judge on valid, and finds its threshold, or those of a promise, out of fold."""
    highest = Highest(tuning.queries, tuning.names.num_slots, PER_ANSWER, spread=True)
    tuning.collect(highest)
    shortlist, names = highest.result(), tuning.names
    known = tuning.features(shortlist)
    if joined(tuning.benchmark.train, tuning.queries, names.num_entities).held_out:
        known = known.without(LINKS)  # they would tell how valid was made, not what is true
    forest = train_forest(shortlist, known, names)
    judged = judged_by(forest, shortlist, known)
    found: dict[str, Any] = {"features": len(known.names), "models": len(tuning.sources())}
    expected = np.full(names.num_slots, np.nan)
    if tuning.promise is not None:
        kept = promised(judged, tuning.promise)
        thresholds, expected = kept.thresholds, kept.expected_precision()
        objective, found["promise"] = tuning.promise.name, kept.found(names)
    else:
        single = best_single(judged, tuning.objective)
        thresholds, objective = Thresholds.single(single, names.num_slots), tuning.objective.name
        found["threshold"] = float(expit(single))
    found["out_of_fold_f1"] = _f1_by_set(judged, thresholds)
    rescorer = Judge(known.names, forest, tuning.sources(), tuning.features)
    floors = Thresholds.of(shortlist.floors)
    expected = frozen(expected, np.float64)
    return Decider("judge", objective, floors, thresholds, expected, None, rescorer, found)


def _f1_by_set(judged: Shortlist, thresholds: Thresholds) -> dict[str, float | None]:
    """F1 on valid, on each of the sets WITH_ANSWERS; None where it is not defined."""
    counts = judged.counts(judged.accepted(thresholds))
    reached = {
        name: float(f1(counts.take(SETS[name](judged.queries)).total())) for name in WITH_ANSWERS
    }
    return {name: None if np.isnan(value) else value for name, value in reached.items()}


def train_forest(shortlist: Shortlist, known: Features, names: Vocabulary) -> Forest:
    """A model for each fold, trained on no fact that the queries of this fold ask for."""
    inverse = names.inverse(shortlist.relations)
    mine = folds_of(shortlist.relations, shortlist.queries.anchors[shortlist.rows])
    mirrored = folds_of(inverse, shortlist.entities)  # the same fact, asked for from its other end

    def trained(fold: int) -> Forest:
        taught = (mine != fold) & (mirrored != fold)
        right = shortlist.right[taught]
        if right.all() or not right.any():
            raise DataError("valid has too few answers among its best candidates to train a judge")
        settings = MANY_TREES if len(right) > MANY else FEW_TREES
        return boosted(known.values[taught], right, settings)

    with ThreadPoolExecutor(get_num_threads()) as pool:
        return Forest.joined(list(pool.map(trained, range(FOLDS))))


def judged_by(forest: Forest, shortlist: Shortlist, known: Features) -> Shortlist:
    """The same candidates with the logits of the trees for their scores, and without floors."""
    folds = folds_of(shortlist.relations, shortlist.queries.anchors[shortlist.rows])
    return replace(
        shortlist,
        scores=frozen(forest.logits(known.values, folds), np.float32),
        floors=frozen(np.full_like(shortlist.floors, -np.inf), np.float32),
    )


def folds_of(slots: Ids, anchors: Ids) -> Keys:
    """The fold of each query: from its ids alone, so that it has the same one everywhere."""
    mixed = slots.astype(np.uint64) << np.uint64(32) | anchors.astype(np.uint64)
    for shift, factor in MIXING:
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return ((mixed >> np.uint64(33)) % np.uint64(FOLDS)).astype(np.int64)
