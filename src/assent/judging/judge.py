"""A judge of candidates: boosted trees over features, cross-fitted on valid, and where to cut.

A question belongs to a fold, and is only ever judged by trees that saw none of its candidates,
from neither end of the fact. That holds on test as well: half of its facts are asked for in valid
from their other end, and trees that saw them there would have been told the answer. So out of fold
on valid is just what happens on test, and a cut found there fits.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, Mask, frozen
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.errors import ConfigError, DataError
from assent.judging.features import Features
from assent.judging.trees import Forest

PER_ANSWER = 6  # candidates looked at for each answer; more made no better judges
FOLDS = 6
MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))  # so that near ids fall far apart


@dataclass(frozen=True, slots=True)
class Source:
    """A model that was heard: where its run is, and a checksum of its numbers."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """A decision that can be made again about any candidate above the floors."""

    objective: str
    thresholds: Thresholds  # floors of scores: no candidate below them is looked at
    names: tuple[str, ...]  # of the features
    forest: Forest
    cuts: Thresholds  # of its probabilities: accepted above
    sources: tuple[Source, ...] = ()  # the run's own model, then the others
    found: dict[str, Any] = field(default_factory=dict)  # on valid, for people to read
    rule: str = "judge"

    @property
    def probabilities(self) -> None:
        """Of single scores it says nothing: it looks at more than these."""

    def judged(self, shortlist: Shortlist, known: Features) -> Shortlist:
        """The same candidates, with the judge's probabilities for their scores."""
        return judged_by(self.forest, shortlist, known.only(self.names))

    def accept(self, judged: Shortlist) -> Mask:  # (candidate,)
        """Which of the judged candidates may be added."""
        return self.cuts.accept(judged.scores, judged.relations)


def train_forest(shortlist: Shortlist, known: Features, seed: int = 0) -> Forest:
    """Trees for each fold, which saw none of its facts."""
    num_slots = len(shortlist.floors)
    inverse = (shortlist.relations + num_slots // 2) % num_slots
    mine = folds_of(shortlist.relations, shortlist.queries.anchors[shortlist.rows])
    mirrored = folds_of(inverse, shortlist.entities)  # the same fact, asked for from its other end
    models = []
    for fold in range(FOLDS):
        taught = (mine != fold) & (mirrored != fold)
        models.append(_boosted(known.values[taught], shortlist.right[taught], seed))
    return Forest.of_models(models)


def judged_by(forest: Forest, shortlist: Shortlist, known: Features) -> Shortlist:
    """Candidates with probabilities for scores, of valid all of them out of fold."""
    folds = folds_of(shortlist.relations, shortlist.queries.anchors[shortlist.rows])
    return replace(
        shortlist,
        scores=frozen(forest.probabilities(known.values, folds), np.float32),
        floors=frozen(np.full_like(shortlist.floors, -np.inf), np.float32),
    )


def folds_of(slots: Ids, anchors: Ids) -> Keys:
    """The fold of each question: from its ids alone, so that it has the same one everywhere."""
    mixed = slots.astype(np.uint64) << np.uint64(32) | anchors.astype(np.uint64)
    for shift, factor in MIXING:
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return ((mixed >> np.uint64(33)) % np.uint64(FOLDS)).astype(np.int64)


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
