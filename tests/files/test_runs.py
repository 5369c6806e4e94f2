"""A run folder keeps weights whole, and lets one process train at a time."""

import pytest
import torch

from assent.errors import DataError
from assent.files.places import SETTINGS
from assent.files.runs import WEIGHTS, read_weights, save_weights, training_in


def test_weights_read_back_equal(tmp_path):
    weights = {"entities": torch.arange(6.0).reshape(2, 3).T, "bias": torch.zeros(2)}
    save_weights(tmp_path, weights)
    again = read_weights(tmp_path)
    assert again.keys() == weights.keys()
    assert all(torch.equal(again[name], weights[name]) for name in weights)


def test_a_run_without_weights_says_what_to_do(tmp_path):
    with pytest.raises(DataError, match="train the run to its end first"):
        read_weights(tmp_path)


def test_damaged_weights_are_refused(tmp_path):
    save_weights(tmp_path, {"bias": torch.zeros(20)})
    path = tmp_path / WEIGHTS
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DataError, match="expected weights that assent wrote"):
        read_weights(tmp_path)


def test_a_run_is_trained_by_one_process_at_a_time(tmp_path):
    (tmp_path / SETTINGS).write_text("")
    with (
        training_in(tmp_path),
        pytest.raises(DataError, match="is being trained by another process"),
        training_in(tmp_path),
    ):
        pass
    with training_in(tmp_path):
        pass
