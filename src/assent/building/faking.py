"""Questions that make no sense: the anchor's types violate what the relation takes."""

import numpy as np

from assent.core.arrays import Ids, Keys, found_in
from assent.core.queries import Queries, Subset
from assent.core.types import Types

PATIENCE = 10  # rounds that may bring next to nothing before we take what there is


def fake(
    real: Queries, taken: Keys, types: Types, count: int, side: range, rng: np.random.Generator
) -> Queries:
    """Up to `count` questions of one side that violate the types.

    Anchor and relation are drawn, apart, from the real questions, so that neither of them alone
    gives a fake away. `taken` are the questions, ascending, that have an answer anywhere.
    """
    num_entities = len(types.entity_offsets) - 1
    relations = real.relations[(real.relations >= side.start) & (real.relations < side.stop)]
    found = np.empty(0, dtype=np.int64)
    idle = 0
    while len(found) < count and idle < PATIENCE and len(relations):
        size = 2 * (count - len(found)) + 64
        drawn = _draw(real.anchors, relations, size, rng)
        drawn = drawn[types.violate(*drawn.T)]
        keys = drawn[:, 1].astype(np.int64) * num_entities + drawn[:, 0]
        new = np.setdiff1d(keys[~found_in(taken, keys)], found)
        new = rng.permutation(new)[: count - len(found)]
        idle = 0 if 100 * len(new) > count - len(found) else idle + 1
        found = np.union1d(found, new)
    relation_ids, anchors = np.divmod(found, num_entities)
    return Queries.empty(anchors, relation_ids, Subset.FAKE)


def _draw(anchors: Ids, relations: Ids, size: int, rng: np.random.Generator) -> Ids:  # (size, 2)
    return np.stack(
        [
            anchors[rng.integers(len(anchors), size=size)],
            relations[rng.integers(len(relations), size=size)],
        ],
        axis=1,
    )
