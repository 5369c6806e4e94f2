"""A Python function as a scorer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from assent.adapters.logits import logits
from assent.core.arrays import Keys
from assent.core.vocabulary import Vocabulary

ScoringFunction = Callable[[Keys, Keys], Any]  # anchors, relations -> scores (query, entity)


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """Asks a function for the scores of a few queries at a time.

    It takes the ids of anchors (query,) and relations (query,) as the benchmark numbers them;
    relations `num_relations` and above ask for the head. It gives logits (query, entity) as
    numpy, torch or nested lists.
    """

    function: ScoringFunction
    vocabulary: Vocabulary

    @property
    def num_entities(self) -> int:
        return self.vocabulary.num_entities

    def scores(self, anchors: Tensor, relations: Tensor) -> Tensor:  # -> (query, entity)
        asked = anchors.numpy(), relations.numpy()
        # The function gets copies: the questions are still needed to say where a score is wrong.
        given = self.function(*(ids.copy() for ids in asked))
        return torch.from_numpy(logits(given, *asked, self.vocabulary, "the function"))
