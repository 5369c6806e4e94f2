"""A judge of candidates: boosted trees over features, cross-fitted on valid, and one cut.

Each fold of the queries is judged by trees that saw none of its candidates from either side. The
cut is the best for these out-of-fold probabilities; on test the trees of all folds are averaged.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Mask, frozen
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.deciding.objectives import Objective
from assent.deciding.rules import best_single
from assent.errors import ConfigError, DataError
from assent.judging.features import Features
from assent.judging.trees import Forest

PER_ANSWER = 6  # candidates looked at for each answer; more made no better judges
FOLDS = 4


@dataclass(frozen=True, slots=True)
class Source:
    """A model that was heard: where its run is, and a checksum of its numbers."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """A decision that can be made again about any candidate above the floors."""

    objective: str
    thresholds: Thresholds  # floors: no candidate below them is looked at
    names: tuple[str, ...]  # of the features
    forest: Forest
    cut: float  # a probability
    sources: tuple[Source, ...] = ()  # the run's own model, then the others
    found: dict[str, Any] = field(default_factory=dict)  # on valid, for people to read
    rule: str = "judge"

    def accept(self, known: Features) -> Mask:  # (candidate,)
        """Which of the candidates may be added."""
        if known.names != self.names:
            raise DataError("the judge was trained on other features")
        return self.forest.probabilities(known.values) > self.cut


def train_judge(
    shortlist: Shortlist, known: Features, objective: Objective, seed: int = 0
) -> tuple[Judge, Mask]:
    """A judge for the objective, and its out-of-fold decisions (candidate,)."""
    folds = np.random.default_rng(seed).integers(FOLDS, size=len(shortlist.queries))
    mine, mirrored = folds[shortlist.rows], mirrored_folds(shortlist, folds)
    models, probabilities = [], np.zeros(len(shortlist))
    for fold in range(FOLDS):
        # From its other side, the same fact would tell the answer.
        taught = (mine != fold) & (mirrored != fold)
        models.append(_boosted(known.values[taught], shortlist.right[taught], seed))
        asked = mine == fold
        probabilities[asked] = Forest.of_models(models[-1:]).probabilities(known.values[asked])
    judged = replace(
        shortlist,
        scores=frozen(probabilities, np.float32),
        floors=frozen(np.full(len(shortlist.floors), -np.inf), np.float32),
    )
    cut = best_single(judged, objective)
    floors = Thresholds.of(shortlist.floors)
    judge = Judge(objective.name, floors, known.names, Forest.of_models(models), cut)
    return judge, np.asarray(probabilities > cut)


def mirrored_folds(shortlist: Shortlist, folds: NDArray[np.int64]) -> NDArray[np.int64]:
    """The fold of the query that asks for the same fact from its other end; -1: not asked."""
    num_slots = len(shortlist.floors)
    inverse: Ids = (shortlist.relations + num_slots // 2) % num_slots
    queries = shortlist.queries
    size = 1 + max(queries.anchors.max(initial=0), shortlist.entities.max(initial=0))
    keys = queries.keys(int(size))
    order = np.argsort(keys)
    asked = inverse.astype(np.int64) * size + shortlist.entities
    places = np.minimum(np.searchsorted(keys[order], asked), len(keys) - 1)
    there = keys[order[places]] == asked
    return np.where(there, folds[order[places]], -1)


def _boosted(rows: NDArray[np.float64], right: Mask, seed: int) -> Any:
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError as error:
        raise ConfigError("a judge needs scikit-learn: pip install 'assent[judge]'") from error
    if right.all() or not right.any():
        raise DataError("valid has too few answers among its best candidates to train a judge")
    model = HistGradientBoostingClassifier(
        max_iter=100, min_samples_leaf=50, l2_regularization=1.0, early_stopping=False,
        random_state=seed,
    )  # fmt: skip
    return model.fit(rows, right)
