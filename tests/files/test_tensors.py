"""Tensors of a file are views of it; whether they are finite is looked at block by block."""

import pytest
import torch

from assent.files import tensors
from assent.files.runs import WEIGHTS, read_weights, save_weights
from assent.files.tensors import is_finite


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("place", [0, 6, 7, 19])
def test_a_number_that_is_none_is_found_in_every_block(monkeypatch, wrong, place):
    monkeypatch.setattr(tensors, "BLOCK", 7)
    numbers = torch.arange(20.0)
    assert is_finite(numbers.view(4, 5)) and is_finite(numbers.view(4, 5).T)
    numbers[place] = wrong
    assert not is_finite(numbers.view(4, 5)) and not is_finite(numbers.view(4, 5).T)


def test_nothing_and_whole_numbers_are_finite():
    assert is_finite(torch.empty(0, 3)) and is_finite(torch.tensor(1.5))
    assert is_finite(torch.tensor([2**60])) and is_finite(torch.tensor([True]))


def test_what_is_written_to_weights_of_a_file_does_not_come_to_the_file(tmp_path):
    save_weights(tmp_path, {"bias": torch.zeros(1000)})
    before = (tmp_path / WEIGHTS).read_bytes()
    read_weights(tmp_path)["bias"] += 1
    assert (tmp_path / WEIGHTS).read_bytes() == before


def test_weights_of_a_file_stay_when_the_file_is_replaced(tmp_path):
    save_weights(tmp_path, {"bias": torch.zeros(1000)})
    weights = read_weights(tmp_path)
    save_weights(tmp_path, {"bias": torch.ones(1000)})
    assert weights["bias"].sum() == 0 and read_weights(tmp_path)["bias"].sum() == 1000
