"""Boosted trees of assent and of those libraries that are installed, as judges of the same run.

Out-of-fold F1 and log loss on valid, each the mean over several ways of making folds; seconds of
processor time, one thread, to train all folds and to judge a million candidates.

python benchmarks/boosting.py RUN [WAYS]
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from time import process_time

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Mask, frozen
from assent.core.counts import f1
from assent.core.pairs import joined
from assent.core.scores import collect
from assent.core.shortlist import Shortlist
from assent.deciding.boosting import BoostSettings, boosted
from assent.deciding.curves import best_single
from assent.deciding.graph import LINKS
from assent.deciding.judge import FOLDS, PER_ANSWER, folds_of
from assent.deciding.objectives import FBeta
from assent.deciding.shortlisting import Highest
from assent.scoring import score_split
from assent.verbs.deciders import features_from
from assent.verbs.runs import load_run

Rows = NDArray[np.float64]  # (row, feature)
Logits = Callable[[Rows], NDArray[np.float64]]
Train = Callable[[Rows, Mask], Logits]


def ours(**settings: float) -> Train:
    def train(rows: Rows, right: Mask) -> Logits:
        forest = boosted(rows, right, BoostSettings(**settings))
        return lambda rows: forest.logits(rows, np.zeros(len(rows), np.int64))

    return train


def sklearn(rows: Rows, right: Mask) -> Logits:
    from sklearn.ensemble import HistGradientBoostingClassifier as Classifier

    model = Classifier(min_samples_leaf=50, l2_regularization=1.0, early_stopping=False)
    return model.fit(rows, right).decision_function


def lightgbm(rows: Rows, right: Mask) -> Logits:
    import lightgbm

    settings = {
        "objective": "binary", "min_data_in_leaf": 50, "lambda_l2": 1.0, "verbose": -1,
        "num_threads": 1, "deterministic": True, "force_row_wise": True,
    }  # fmt: skip
    quiet = {"verbose": -1}
    model = lightgbm.train(settings, lightgbm.Dataset(rows, right.astype(float), params=quiet), 100)
    return lambda rows: model.predict(rows, raw_score=True, num_threads=1)


def xgboost(rows: Rows, right: Mask) -> Logits:
    import xgboost

    settings = {
        "objective": "binary:logistic", "grow_policy": "lossguide", "max_leaves": 31,
        "max_depth": 0, "eta": 0.1, "min_child_weight": 5.0, "nthread": 1,
    }  # fmt: skip
    model = xgboost.train(settings, xgboost.QuantileDMatrix(rows, right, nthread=1), 100)
    return lambda rows: model.predict(xgboost.DMatrix(rows, nthread=1), output_margin=True)


def catboost(rows: Rows, right: Mask) -> Logits:
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(
        iterations=100, learning_rate=0.1, l2_leaf_reg=1.0, thread_count=1, verbose=False,
        allow_writing_files=False,
    )  # fmt: skip
    model.fit(rows, right)
    return lambda rows: model.predict(rows, prediction_type="RawFormulaVal", thread_count=1)


LIBRARIES = (sklearn, lightgbm, xgboost, catboost)
SETTINGS = {
    "assent": {},
    "50 trees": {"trees": 50},
    "200 trees": {"trees": 200},
    "rate .05": {"rate": 0.05},
    "200 trees, rate .05": {"trees": 200, "rate": 0.05},
    "15 leaves": {"leaves": 15},
    "63 leaves": {"leaves": 63},
    "200 rows a leaf": {"leaf_rows": 200},
    "l2 10": {"l2": 10.0},
}


def show(label: str, train: Train, shortlist: Shortlist, known: Rows, ways: int) -> None:
    found, training, judging = [], 0.0, 0.0
    num_slots = len(shortlist.floors)
    inverse = (shortlist.relations + num_slots // 2) % num_slots
    anchors = shortlist.queries.anchors[shortlist.rows]
    train(known[:: len(known) // 2000], shortlist.right[:: len(known) // 2000])  # compiled by now
    for way in range(ways):
        shift = way * 1_000_003  # other ids fall into other folds
        mine = folds_of(shortlist.relations, anchors.astype(np.int64) + shift)
        mirrored = folds_of(inverse, shortlist.entities.astype(np.int64) + shift)
        logits = np.empty(len(shortlist))
        for fold in range(FOLDS):
            taught, asked = (mine != fold) & (mirrored != fold), mine == fold
            rows, right, others = known[taught], shortlist.right[taught], known[asked]
            begun = process_time()
            model = train(rows, right)
            trained = process_time()
            logits[asked] = model(others)
            training, judging = training + trained - begun, judging + process_time() - trained
        judged = replace(
            shortlist,
            scores=frozen(logits, np.float32),
            floors=frozen(np.full_like(shortlist.floors, -np.inf), np.float32),
        )
        accepted = judged.scores.astype(np.float64) > best_single(judged, FBeta())
        loss = np.logaddexp(0, np.where(shortlist.right, -logits, logits)).mean()
        found.append((f1(shortlist.counts(accepted).total()), loss))
    reached, loss = np.mean(found, axis=0)
    million = judging / ways / len(shortlist) * 1e6
    print(
        f"| {label} | {reached:.4f} | {loss:.5f} | {training / ways:.1f} | {million:.1f} |",
        flush=True,
    )


def main(folder: str, ways: int = 1) -> None:
    run = load_run(folder)
    benchmark, names = run.benchmark, run.benchmark.vocabulary
    highest = Highest(benchmark.valid, names.num_slots, PER_ANSWER, spread=True)
    collect(score_split(run, "valid"), highest)
    shortlist = highest.result()
    known = features_from([run])(shortlist)
    if joined(benchmark.train, benchmark.valid, names.num_entities).held_out:
        known = known.without(LINKS)
    print(f"{len(shortlist):,} candidates, {shortlist.right.sum():,} right\n")
    print("| trees | F1 | log loss | s to train | s a million |\n|---|---|---|---|---|")
    for library in LIBRARIES:
        if find_spec(library.__name__):
            show(library.__name__, library, shortlist, known.values, ways)
    for label, settings in SETTINGS.items():
        show(label, ours(**settings), shortlist, known.values, ways)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
