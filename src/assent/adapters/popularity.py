"""The baseline to beat: an entity scores by how often it answers a slot in train."""

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from assent.core.arrays import Keys, distinct, pair_keys
from assent.core.benchmark import Benchmark
from assent.core.queries import both_ways

PSEUDO_COUNT = 0.5  # added to every count, so that what was never seen has a probability, too


class Popularity:
    """The log-odds that an entity answers a query about a slot, whatever the anchor."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.num_entities = benchmark.vocabulary.num_entities
        num_slots = benchmark.vocabulary.num_slots
        anchors, slots, answers = both_ways(benchmark.train, benchmark.vocabulary.num_relations)
        seen, times = np.unique(pair_keys(slots, answers, self.num_entities), return_counts=True)
        asked = distinct(pair_keys(slots, anchors, self.num_entities)) // self.num_entities
        queries = np.bincount(asked, minlength=num_slots)  # (slot,)
        self.seen = seen  # (place,)   slot and entity as one key, ascending
        self.logits = _log_odds(times, queries[seen // self.num_entities])  # (place,)
        self.unseen = _log_odds(np.zeros(num_slots), queries)  # (slot,)
        slots_seen = seen // self.num_entities
        self.starts = np.searchsorted(slots_seen, np.arange(num_slots + 1))  # (slot + 1,)

    def scores(self, anchors: Tensor, relations: Tensor) -> Tensor:  # -> (query, entity)
        slots = relations.numpy()
        rows = np.repeat(self.unseen[slots, None].astype(np.float32), self.num_entities, axis=1)
        for slot in np.unique(slots):
            mine = slice(self.starts[slot], self.starts[slot + 1])
            entities = self.seen[mine] - slot * self.num_entities
            rows[np.ix_(slots == slot, entities)] = self.logits[mine]
        return torch.from_numpy(rows)


def _log_odds(times: ArrayLike, queries: Keys) -> NDArray[np.float64]:
    """log(p / (1 - p)) for p = times / queries: an entity answered `times` of so many queries."""
    right = np.asarray(times, np.float64)
    odds: NDArray[np.float64] = np.log(right + PSEUDO_COUNT) - np.log(
        queries - right + PSEUDO_COUNT
    )
    return odds
