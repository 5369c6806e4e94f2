"""The candidates of a set of queries that score high enough to be decided about."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assent.core.arrays import Ids, Mask, frozen
from assent.core.counts import Counts
from assent.core.queries import Queries
from assent.core.scores import Scores
from assent.core.showing import brief
from assent.core.thresholds import Thresholds
from assent.errors import DataError

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """How the scores of each query are spread over all its candidates, shortlisted or not."""

    best: Values  # (query,)       the highest score
    total: Values  # (query,)      log of the sum of exp(score)
    expected: Values  # (query,)   the sum of the sigmoids of the scores: answers to expect
    effective: Values  # (query,)  how many candidates share the softmax: 1 if one has all of it

    __repr__ = brief

    def take(self, queries: Mask) -> Self:
        """The spread of some of the queries."""
        return type(self)(
            self.best[queries], self.total[queries], self.expected[queries], self.effective[queries]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Shortlist:
    """Every candidate that scores higher than the floor of its slot."""

    queries: Queries
    rows: Ids  # (candidate,)  the query of each, ascending
    entities: Ids  # (candidate,)  ascending within a query
    scores: Scores  # (candidate,)
    right: Mask  # (candidate,)  whether it is an answer
    floors: Scores  # (slot,)
    spread: Spread | None = None  # only where a decider needs it

    __repr__ = brief

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def relations(self) -> Ids:  # (candidate,)
        return self.queries.relations[self.rows]

    def accepted(self, thresholds: Thresholds) -> Mask:  # (candidate,)
        """Which candidates these thresholds accept; none of them may lie below its slot's floor."""
        asked = np.unique(self.queries.relations)
        if np.any(thresholds.values[asked] < self.floors[asked]):
            raise DataError("a threshold lies below the floor of its slot; lower the floor first")
        return thresholds.accept(self.scores, self.relations)

    def counts(self, accepted: Mask) -> Counts:  # of arrays (query,)
        """The counts of a decision, for each query."""
        size = len(self.queries)
        return Counts(
            np.bincount(self.rows[accepted & self.right], minlength=size),
            np.bincount(self.rows[accepted], minlength=size),
            self.queries.num_answers,
        )

    def take(self, queries: ArrayLike) -> Self:
        """The candidates of some of the queries, which are given as a mask."""
        mask = np.asarray(queries, bool)
        kept = mask[self.rows]
        places = np.cumsum(mask) - 1
        return type(self)(
            self.queries.take(mask),
            frozen(places[self.rows[kept]]),
            self.entities[kept],
            self.scores[kept],
            self.right[kept],
            self.floors,
            None if self.spread is None else self.spread.take(mask),
        )
