"""What people write is checked against what exists, and the nearest right word is named."""

from dataclasses import dataclass
from typing import Literal

import pytest

from assent.core.checking import checked, refuse_unknown
from assent.errors import ConfigError


@dataclass
class Toy:
    size: int = 1
    rate: float = 0.5
    name: str = "a"
    quick: bool = False
    shape: Literal["round", "square"] = "round"
    limit: int | None = None


def test_values_that_fit_are_kept_and_whole_numbers_become_fractions():
    values = {"size": 2, "rate": 1, "name": "b", "quick": True, "shape": "square", "limit": None}
    found = checked(Toy, values, "toy")
    assert found == values and type(found["rate"]) is float
    assert checked(Toy, {}, "toy") == {}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("sise", 1, r"unknown setting toy\.sise; did you mean 'size'\?"),
        ("zzz", 1, r"unknown setting toy\.zzz; choose from size, rate, name"),
        ("size", 1.0, r"toy\.size: expected a whole number, found 1\.0"),
        ("size", True, r"toy\.size: expected a whole number, found True"),
        ("rate", "1", r"toy\.rate: expected a number, found '1'"),
        ("name", 1, r"toy\.name: expected a word, found 1"),
        ("quick", 1, r"toy\.quick: expected true or false, found 1"),
        ("shape", "flat", r"toy\.shape: expected 'round' or 'square', found 'flat'"),
        ("limit", "1", r"toy\.limit: expected int \| None, found '1'"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(key, value, message):
    with pytest.raises(ConfigError, match=message):
        checked(Toy, {key: value}, "toy")


def test_a_word_is_compared_without_regard_to_capitals_only_to_suggest_another():
    refuse_unknown("bce", ["bce", "ce"], "loss")
    with pytest.raises(ConfigError, match=r"unknown loss 'BCE'; did you mean 'bce'\?"):
        refuse_unknown("BCE", ["bce", "ce"], "loss")
    with pytest.raises(ConfigError, match="unknown loss 'mse'; choose from bce, other"):
        refuse_unknown("mse", ["bce", "other"], "loss")
