"""Scores of candidates, a block of queries at a time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, rows_of
from assent.core.columns import Columns
from assent.core.queries import Queries
from assent.core.showing import brief
from assent.errors import DataError

if TYPE_CHECKING:  # only its name: nothing here computes with torch
    from torch import Tensor

Scores = NDArray[np.float32]
QueriesDone = Callable[[int, int], None]  # told how many queries of how many are scored


def unheard(done: int, total: int) -> None:
    """Progress that nobody wants to be told of."""


class Scorer(Protocol):
    """Anything that gives every entity a logit, in a new tensor: what is known is masked in it."""

    @property
    def num_entities(self) -> int: ...

    def scores(self, anchors: "Tensor", relations: "Tensor") -> "Tensor":  # -> (query, entity)
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ScoreBlock:
    """Some of the queries, and the score of every entity that is here for each of them.

    A score is a logit, higher is better; -inf = not a candidate. It means nothing else anywhere.
    """

    queries: Queries
    scores: Scores  # (query, column)
    first: int = 0  # place of the first of these queries among all queries asked
    columns: Columns = field(default_factory=lambda: Columns(0))  # as many as there are scores

    __repr__ = brief

    def __post_init__(self) -> None:
        if self.scores.ndim != 2 or len(self.scores) != len(self.queries):
            raise DataError(f"{len(self.queries)} queries, but scores of {self.scores.shape}")
        if not self.columns.num_entities:
            object.__setattr__(self, "columns", Columns(self.scores.shape[1]))

    def of_answers(self) -> Scores:  # (answer,)
        """The score of every answer, in the order of the answers."""
        return self.of(self.queries.offsets, self.queries.answers)

    def of(self, offsets: Keys, ids: Ids) -> Scores:  # (id,)
        """The scores of entities of each query, ragged, from whichever process has them."""
        return self.columns.pick(self.scores, rows_of(offsets), ids)


class Collector(Protocol):
    """Takes from each block of scores what it needs; the block is not kept."""

    def add(self, block: ScoreBlock) -> None: ...


def collect(blocks: Iterable[ScoreBlock], *collectors: Collector) -> None:
    """One pass over a stream of scores, for any number of collectors."""
    for block in blocks:
        for collector in collectors:
            collector.add(block)
