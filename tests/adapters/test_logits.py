"""Scores from elsewhere become float32 logits, or are refused by query and entity."""

import numpy as np
import pytest
import torch

from assent.adapters.logits import logits, query_in_words
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError

NAMES = Vocabulary(("ada", "ben"), ("knows",))
ASKED = np.array([0, 1]), np.array([0, 1])


def test_queries_are_told_as_facts_with_a_gap():
    assert query_in_words(0, 0, NAMES) == "tail of (ada, knows, ?)"
    assert query_in_words(1, 1, NAMES) == "head of (?, knows, ben)"


@pytest.mark.parametrize(
    "given",
    [
        [[1, 2], [3, -np.inf]],
        np.array([[1, 2], [3, -np.inf]], np.float64),
        np.asfortranarray(np.array([[1, 2], [3, -np.inf]], np.float32)),
        torch.tensor([[1, 2], [3, -np.inf]], dtype=torch.bfloat16),
    ],
    ids=["list", "float64", "by columns", "bfloat16"],
)
def test_numbers_of_any_kind_become_an_array_of_their_own(given):
    found = logits(given, *ASKED, NAMES, "here")
    assert found.dtype == np.float32 and found.flags.c_contiguous
    assert found.tolist() == [[1, 2], [3, -np.inf]]
    found[:] = 0
    assert np.asarray(torch.as_tensor(given).float())[0, 0] == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([[1, 2]], r"shape \(1, 2\); expected \(2, 2\)"),
        ([["a", "b"], ["c", "d"]], "expected numbers"),
        ([[1, 2], [3]], "no array of scores"),
        ([[1, np.nan], [3, 4]], r"tail of \(ada, knows, \?\): the score of 'ben' is nan"),
        ([[1, 2], [np.inf, 4]], r"head of \(\?, knows, ben\): the score of 'ada' is inf"),
        ([[1, 2], [3, -1e300]], r"the score of 'ben' is -1e\+300"),
    ],
)
def test_what_is_no_logit_is_refused_by_query_and_entity(given, message):
    with pytest.raises(DataError, match=f"here: .*{message}"):
        logits(given, *ASKED, NAMES, "here")
