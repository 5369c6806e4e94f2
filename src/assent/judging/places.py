"""How well an entity fits a slot, by the other slots that it stands in."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assent.core.arrays import Ids, places_in, rows_of

PRIOR = 2  # cases against an implication, before any is looked at

Shares = NDArray[np.float64]


class Places:
    """Which slots each entity is an anchor of in train; who answers a slot anchors its inverse."""

    def __init__(self, anchors: Ids, slots: Ids, num_entities: int, num_slots: int) -> None:
        stands = csr_array(
            (np.ones(len(anchors)), (anchors, slots)), shape=(num_entities, num_slots)
        )
        stands.sum_duplicates()
        stands.data[:] = 1
        self.follows = following(stands)
        self.offsets, self.slots = stands.indptr.astype(np.int64), stands.indices

    def fits(self, entities: Ids, slots: Ids) -> tuple[Shares, Shares]:
        """How often entities of the most telling slot stand in this one too, and of all on average.

        Of each entity in front of its slot; what it is known to do in this very slot is no news.
        """
        size = len(self.follows)
        asked, back = np.unique(entities.astype(np.int64) * size + slots, return_inverse=True)
        entity, slot = np.divmod(asked, size)
        counts = np.diff(self.offsets)[entity]
        rows = rows_of(np.append(0, np.cumsum(counts)))
        shares = self.follows[self.slots[places_in(self.offsets, entity)], slot[rows]]
        highest = np.zeros(len(asked))
        np.maximum.at(highest, rows, shares)
        mean = np.bincount(rows, shares, len(asked)) / np.maximum(counts, 1)
        return highest[back], mean[back]


def following(stands: csr_array) -> Shares:  # (slot, slot)
    """Of the rows (row, slot) that have one slot, the share that has another; of itself, 0."""
    together = (stands.T @ stands).toarray()
    shares: Shares = together / (np.diag(together)[:, None] + PRIOR)
    np.fill_diagonal(shares, 0)
    return shares
