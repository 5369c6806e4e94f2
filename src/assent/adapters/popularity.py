"""The baseline to beat: an entity scores by how often train has it in that place."""

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from assent.core.arrays import Ids, Keys, distinct
from assent.core.benchmark import Benchmark
from assent.core.queries import both_ways

HALF = 0.5  # added to every count, so that what was never seen is unlikely, not impossible


class Popularity:
    """The log-odds that an entity answers a query about a relation, whatever the anchor."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.num_entities = benchmark.vocabulary.num_entities
        num_slots = 2 * benchmark.vocabulary.num_relations
        anchors, slots, answers = both_ways(benchmark.train, num_slots // 2)
        seen, times = np.unique(self._keys(slots, answers), return_counts=True)
        asked = distinct(self._keys(slots, anchors)) // self.num_entities
        queries = np.bincount(asked, minlength=num_slots)  # (slot,)
        self.seen = seen  # (place,)   slot * entities + entity, ascending
        self.logits = _log_odds(times, queries[seen // self.num_entities])  # (place,)
        self.unseen = _log_odds(np.zeros(num_slots), queries)  # (slot,)
        self.starts = np.searchsorted(seen, np.arange(num_slots + 1) * self.num_entities)

    def scores(self, anchors: Tensor, relations: Tensor) -> Tensor:  # -> (query, entity)
        slots = relations.numpy()
        rows = np.repeat(self.unseen[slots, None].astype(np.float32), self.num_entities, axis=1)
        for slot in np.unique(slots):
            mine = slice(self.starts[slot], self.starts[slot + 1])
            entities = self.seen[mine] - slot * self.num_entities
            rows[np.ix_(slots == slot, entities)] = self.logits[mine]
        return torch.from_numpy(rows)

    def _keys(self, slots: Ids, entities: Ids) -> Keys:
        keys: Keys = slots.astype(np.int64) * self.num_entities + entities
        return keys


def _log_odds(times: ArrayLike, queries: Keys) -> NDArray[np.float64]:
    """Of being right this many times in so many queries."""
    right = np.asarray(times, np.float64)
    odds: NDArray[np.float64] = np.log(right + HALF) - np.log(queries - right + HALF)
    return odds
