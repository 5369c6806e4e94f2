"""How often two entities that one fact joins are joined by another train fact as well."""

from typing import NamedTuple

import numpy as np

from assent.core.arrays import Ids, Keys, found_in, pair_keys, rows_of
from assent.core.queries import Queries


class Joined(NamedTuple):
    """The share of facts whose two entities another train fact joins too, in either direction."""

    answers: float  # among the answers of queries
    train: float  # among the train facts themselves

    @property
    def held_out(self) -> bool:
        """Whether answers were chosen so that train does not join them to their anchors.

        The makers of FB15k-237 did so, and `assent build` does when it holds out facts. In such a
        benchmark a candidate that train joins to the anchor is mostly wrong, which is not so in
        the graph itself.
        """
        return self.answers < self.train / 2


def joined(train: Ids, asked: Queries, num_entities: int) -> Joined:
    """The shares among the train facts (fact, 3), and among the answers of the queries asked."""
    pairs, times = np.unique(_pairs(train[:, 0], train[:, 2], num_entities), return_counts=True)
    anchors = asked.anchors[rows_of(asked.offsets)]
    there = found_in(pairs, _pairs(anchors, asked.answers, num_entities))
    return Joined(
        float(there.mean()) if len(there) else 0.0,
        float(times[times > 1].sum() / max(times.sum(), 1)),
    )


def _pairs(ones: Ids, others: Ids, num_entities: int) -> Keys:
    """One number for two entities, the same in either order."""
    low, high = np.minimum(ones, others), np.maximum(ones, others)
    return pair_keys(low, high, num_entities)
