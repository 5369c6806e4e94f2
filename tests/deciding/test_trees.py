import numpy as np
import pytest

import boosting_oracles as oracles
from assent.deciding.boosting import BoostSettings, boosted
from assent.deciding.trees import BLOCK, Forest
from assent.errors import DataError

FEW = BoostSettings(trees=20, leaf_rows=10)


@pytest.fixture(scope="module")
def learned():
    """Rows with missing values, and a model of each half of them."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4 * BLOCK + 7, 3))
    right = rows[:, 0] + rows[:, 1] ** 2 + rng.normal(size=len(rows)) > 0.5
    rows[rng.random(rows.shape) < 0.2] = np.nan
    return rows, [boosted(rows[part::2], right[part::2], FEW) for part in (0, 1)]


def test_each_row_is_judged_by_the_model_that_is_asked(learned):
    rows, models = learned
    asked = np.arange(len(rows)) // 3 % 2
    forest = Forest.joined(models)
    expected = [
        oracles.walk(forest.arrays(), row, model) for row, model in zip(rows, asked, strict=True)
    ]
    assert forest.logits(rows, asked).tolist() == expected


def test_joined_models_say_what_they_said_alone(learned):
    rows, models = learned
    for place, model in enumerate(models):
        alone = model.logits(rows, np.zeros(len(rows), np.int64))
        joined = Forest.joined(models).logits(rows, np.full(len(rows), place))
        assert np.array_equal(joined, alone)


def test_trees_may_stand_in_any_order(learned):
    rows, models = learned
    forest, asked = Forest.joined(models), np.arange(len(rows)) % 2
    turned = np.argsort(np.arange(len(forest.roots)) % 20, kind="stable")  # by turns
    arrays = forest.arrays()
    arrays |= {name: arrays[name][turned] for name in ("roots", "members")}
    mixed = Forest.of_arrays(arrays, 3, 2)
    assert np.array_equal(mixed.logits(rows, asked), forest.logits(rows, asked))


def test_a_value_on_the_threshold_goes_left(learned):
    _, (model, _) = learned
    on = np.stack([np.full(3, value) for value in model.thresholds[model.features != -1]])
    expected = [oracles.walk(model.arrays(), row, 0) for row in on]
    assert model.logits(on, np.zeros(len(on), np.int64)).tolist() == expected


def test_no_rows_have_no_logits(learned):
    _, models = learned
    found = Forest.joined(models).logits(np.empty((0, 3)), np.empty(0, np.int64))
    assert found.shape == (0,)


def test_arrays_come_back_as_the_same_forest(learned):
    rows, models = learned
    forest, asked = Forest.joined(models), np.arange(len(rows)) % 2
    again = Forest.of_arrays(forest.arrays(), 3, 2)
    assert np.array_equal(again.logits(rows, asked), forest.logits(rows, asked))


HOSTILE = {
    "a way that never ends": ("left", lambda ids: np.zeros_like(ids)),
    "a node that is not there": ("right", lambda ids: ids + np.int32(10**6)),
    "a negative node": ("right", lambda ids: -ids - 1),
    "a feature that is not there": ("features", lambda ids: ids + np.int32(3)),
    "a negative feature": ("features", lambda ids: ids - np.int32(5)),
    "a root that is not there": ("roots", lambda ids: ids + np.int32(10**6)),
    "a model that is not there": ("members", lambda ids: ids + np.int32(1)),
    "other types": ("features", lambda ids: ids.astype(np.float64)),
    "objects": ("left", lambda ids: ids.astype(object)),
    "other shapes": ("values", lambda values: values[:, None]),
    "too few": ("thresholds", lambda values: values[:-1]),
    "not a number": ("values", lambda values: values * np.nan),
    "no models": ("starts", lambda values: values[:0]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_arrays_are_refused(learned, name):
    _, models = learned
    column, change = HOSTILE[name]
    arrays = Forest.joined(models).arrays()
    with pytest.raises(DataError, match="trees: "):
        Forest.of_arrays({**arrays, column: change(arrays[column])}, 3, 2)


def test_missing_and_strange_arrays_are_refused(learned):
    arrays = Forest.joined(learned[1]).arrays()
    for changed in ({"left": arrays["left"]}, {**arrays, "more": arrays["left"]}):
        with pytest.raises(DataError, match="expected the arrays"):
            Forest.of_arrays(changed, 3, 2)
