"""Neighbours that two entities share, and how telling they are (Adamic & Adar, 2003)."""

# mypy: ignore-errors
# Numba checks the types of the loop, in its own way.

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assent.core.arrays import Ids


class Neighbours:
    """Whom each entity is joined with in train, by any fact in either direction."""

    def __init__(self, anchors: Ids, entities: Ids, num_entities: int) -> None:
        joined = csr_array(
            (np.ones(len(anchors)), (anchors, entities)), shape=(num_entities, num_entities)
        )
        joined.sum_duplicates()
        joined.sort_indices()
        self.offsets, self.ids = joined.indptr.astype(np.int64), joined.indices
        self.weights = 1 / np.log(2 + np.diff(self.offsets))  # a hub tells little

    def shared(self, ones: Ids, others: Ids) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of each pair: how many they share, and their weights summed up."""
        found = np.zeros((2, len(ones)))
        _shared(ones, others, self.offsets, self.ids, self.weights, found)
        return found[0], found[1]


@njit(nogil=True, cache=True)
def _shared(ones, others, offsets, ids, weights, found):
    """The shorter list is looked up in the longer one: hubs are met in many pairs."""
    for i in range(len(ones)):
        a, b = ones[i], others[i]
        if offsets[a + 1] - offsets[a] > offsets[b + 1] - offsets[b]:
            a, b = b, a
        low, end = offsets[b], offsets[b + 1]
        for place in range(offsets[a], offsets[a + 1]):
            wanted = ids[place]
            high = end
            while low < high:
                middle = (low + high) // 2
                if ids[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle
            if low < end and ids[low] == wanted:
                found[0, i] += 1
                found[1, i] += weights[wanted]
