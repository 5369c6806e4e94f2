"""How often the two entities of a fact are joined by another one: in train, and among answers."""

from typing import NamedTuple

import numpy as np

from assent.core.arrays import Ids, Keys, found_in, rows_of
from assent.core.queries import Queries


class Joined(NamedTuple):
    """Shares of facts whose two entities train joins by another fact, in either direction."""

    answers: float
    train: float

    @property
    def held_out(self) -> bool:
        """Whether answers were chosen so that train does not join them to their anchors.

        FB15k-237 was made so, and so does `assent build` hold out facts. Being joined then speaks
        against a candidate, but only in the benchmark: the graph itself is not like that.
        """
        return self.answers < self.train / 2


def joined(train: Ids, asked: Queries, num_entities: int) -> Joined:
    """Of the train facts (fact, 3), and of the answers of some queries."""
    pairs, times = np.unique(_pairs(train[:, 0], train[:, 2], num_entities), return_counts=True)
    anchors = asked.anchors[rows_of(asked.offsets)]
    there = found_in(pairs, _pairs(anchors, asked.answers, num_entities))
    return Joined(
        float(there.mean()) if len(there) else 0.0,
        float(times[times > 1].sum() / max(times.sum(), 1)),
    )


def _pairs(ones: Ids, others: Ids, num_entities: int) -> Keys:
    """One number for two entities, whichever comes first."""
    low, high = np.minimum(ones, others), np.maximum(ones, others)
    return low.astype(np.int64) * num_entities + high
