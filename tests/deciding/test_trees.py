import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier

from assent.deciding.trees import Forest
from assent.errors import DataError


@pytest.fixture(scope="module")
def learned():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 3))
    right = rows[:, 0] + rows[:, 1] ** 2 + rng.normal(size=600) > 0.5
    rows[rng.random(rows.shape) < 0.2] = np.nan
    models = [
        HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(rows[part], right[part])
        for part in (slice(0, 300), slice(300, 600))
    ]
    return rows, models


def test_trees_say_what_scikit_learn_says_also_of_missing_values(learned):
    rows, models = learned
    for model in models:
        expected = model.predict_proba(rows)[:, 1]
        found = expit(Forest.of_models([model]).logits(rows, np.zeros(len(rows), np.int64)))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_a_value_on_the_threshold_goes_left_as_in_scikit_learn(learned):
    _, (model, _) = learned
    forest = Forest.of_models([model])
    on = np.stack([np.full(3, value) for value in forest.thresholds[forest.features != -1]])
    expected = model.predict_proba(on)[:, 1]
    found = expit(forest.logits(on, np.zeros(len(on), np.int64)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_each_row_is_judged_by_the_model_that_is_asked(learned):
    rows, models = learned
    asked = np.arange(len(rows)) % 2
    expected = np.stack([model.predict_proba(rows)[:, 1] for model in models])
    found = expit(Forest.of_models(models).logits(rows, asked))
    np.testing.assert_allclose(found, expected[asked, np.arange(len(rows))], rtol=0, atol=1e-12)


def test_arrays_come_back_as_the_same_forest(learned):
    rows, models = learned
    forest, asked = Forest.of_models(models), np.arange(len(rows)) % 2
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
    arrays = Forest.of_models(models).arrays()
    with pytest.raises(DataError, match="trees: "):
        Forest.of_arrays({**arrays, column: change(arrays[column])}, 3, 2)


def test_missing_and_strange_arrays_are_refused(learned):
    arrays = Forest.of_models(learned[1]).arrays()
    for changed in ({"left": arrays["left"]}, {**arrays, "more": arrays["left"]}):
        with pytest.raises(DataError, match="expected the arrays"):
            Forest.of_arrays(changed, 3, 2)
