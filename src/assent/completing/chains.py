"""How often a chain of relations goes with a relation: counted over the graph."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assent.completing.links import Links
from assent.core.arrays import Ids, Keys, distinct, found_in, rows_of
from assent.core.completions import NONE

BUDGET = 30_000_000  # paths of two steps that are looked at
BATCH = 1_000_000  # of them together, so that memory stays bounded
PRIOR = 2  # pairs against a chain, before any is looked at


class Chains:
    """Of the pairs of entities that a chain joins, how many stand in each relation.

    A chain is one slot, or one after another. Pairs that one slot joins are all counted; those
    that two join as well where the graph has no more than BUDGET paths, else those that start at
    entities drawn at random. So `support` is at most `cases`, and both are counts of real pairs.
    """

    def __init__(self, links: Links, budget: int = BUDGET, seed: int = 0) -> None:
        self.links, self.size = links, links.num_slots
        cases, support = [], []
        for chains, relations in self._counted(budget, np.random.default_rng(seed)):
            cases.append(np.unique(chains, return_counts=True))
            support.append(np.unique(relations, return_counts=True))
        self.chains, self.cases = _summed(cases)  # (chain,)  ascending
        self.supported, self.support = _summed(support)  # (chain and relation,)  ascending

    def keys(self, first: Ids, second: Ids) -> Keys:
        """One number a chain; `second` is NONE where there is one step."""
        return first.astype(np.int64) * (self.size + 1) + (second - NONE)

    def weigh(self, chains: Keys, relation: int) -> tuple[Keys, Keys, NDArray[np.float64]]:
        """Support, cases and the smoothed share of each chain, for one relation."""
        cases = _looked_up(self.chains, self.cases, chains)
        support = _looked_up(self.supported, self.support, self._with(chains, relation))
        return support, cases, support / (cases + PRIOR)

    def _with(self, chains: Keys, relations: Ids | int) -> Keys:
        keys: Keys = chains * self.size + relations
        return keys

    def _counted(self, budget: int, rng: np.random.Generator) -> Iterator[tuple[Keys, Keys]]:
        """Chains (pair's chain,) and chains with relations (pair's chain's relation,)."""
        links = self.links
        starts = rows_of(links.offsets)
        ones = self.keys(links.slots, np.full(len(links.slots), NONE))
        yield self._related(starts, links.ends, ones)
        for batch in _batches(_paths_from(links), budget, rng):
            paths = links.paths(batch)
            pairs = paths.rows * np.int64(links.num_entities) + paths.ends
            # A pair that a chain joins in several places is one pair.
            order = np.lexsort((chains := self.keys(paths.first, paths.second), pairs))
            new = (np.diff(pairs[order], prepend=-1) != 0) | (
                np.diff(chains[order], prepend=-1) != 0
            )
            once = order[new]
            yield self._related(batch[paths.rows[once]], paths.ends[once], chains[once])

    def _related(self, starts: Keys | Ids, ends: Ids, chains: Keys) -> tuple[Keys, Keys]:
        rows, slots = self.links.between(starts, ends)
        forward = slots < self.size // 2
        return chains, self._with(chains[rows[forward]], slots[forward])


def _paths_from(links: Links) -> Keys:  # (entity,)
    """How many paths of two steps start at each entity."""
    onward = np.append(0, np.cumsum(links.degrees[links.ends]))
    counts: Keys = onward[links.offsets[1:]] - onward[links.offsets[:-1]]
    return counts


def _batches(paths: Keys, budget: int, rng: np.random.Generator) -> Iterator[Ids]:
    """Entities to start from, few enough at a time; all of them where the budget allows.

    An entity with more paths than a batch holds is left out.
    """
    order = rng.permutation(np.flatnonzero((paths > 0) & (paths <= BATCH))).astype(np.int32)
    order = order[np.cumsum(paths[order]) <= budget]
    batch = np.cumsum(paths[order]) // BATCH
    for number in distinct(batch):
        yield order[batch == number]


def _summed(parts: list[tuple[Keys, Keys]]) -> tuple[Keys, Keys]:
    """Counts under the same key added up, ascending by key."""
    keys, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    merged, places = np.unique(keys, return_inverse=True)
    return merged, np.bincount(places, counts, len(merged)).astype(np.int64)


def _looked_up(keys: Keys, values: Keys, wanted: Keys) -> Keys:
    """0 where there is no such key."""
    found = np.zeros(len(wanted), np.int64)
    there = found_in(keys, wanted)
    found[there] = values[np.searchsorted(keys, wanted[there])]
    return found
