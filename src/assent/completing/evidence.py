"""Evidence: the known facts that lead from the head of a new fact to its tail.

A chain is one slot, or two slots one after the other. It speaks for a relation if many of the pairs
of entities that it joins in the graph are also joined by that relation.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import (
    Ids,
    Keys,
    distinct,
    found_in,
    frozen,
    offsets_of,
    pair_keys,
    places_in,
    rows_of,
)
from assent.core.new_facts import NONE, Evidence
from assent.core.queries import both_ways
from assent.core.vocabulary import Vocabulary

BEST = 3  # chains that a new fact is shown with
BUDGET = 30_000_000  # paths of two steps that are counted at most
BATCH = 1_000_000  # paths held in memory together
PRIOR = 2  # added to the cases of each chain, so that one lucky case counts for little
TOGETHER = 2_000_000  # links looked at together when chains are found for new facts


class Paths(NamedTuple):
    """Paths of two steps; `rows` says which of the given starts each path begins at."""

    rows: Keys  # (path,)
    first: Ids  # (path,)  slot
    middles: Ids  # (path,)
    second: Ids  # (path,)  slot
    ends: Ids  # (path,)


class Links:
    """The known facts between two different entities, listed at both of their ends."""

    def __init__(self, facts: Ids, names: Vocabulary) -> None:
        self.names = names
        different = facts[facts[:, 0] != facts[:, 2]]
        starts, slots, ends = both_ways(different, names.num_relations)
        order = np.lexsort((slots, ends, starts))
        self.slots, self.ends = slots[order], ends[order]  # (link,)
        counts = np.bincount(starts, minlength=names.num_entities)
        self.offsets = offsets_of(counts)  # (entity + 1,)
        self.pairs = pair_keys(starts[order], self.ends, names.num_entities)  # (link,)  ascending

    @property
    def degrees(self) -> Keys:  # (entity,)
        """How many links start at each entity."""
        return np.diff(self.offsets)

    def between(self, starts: Keys | Ids, ends: Ids) -> tuple[Keys, Ids]:
        """The slots that lead from starts[i] to ends[i]: i (hit,) and the slot (hit,)."""
        keys = pair_keys(starts, ends, self.names.num_entities)
        first = np.searchsorted(self.pairs, keys)
        offsets = offsets_of(np.searchsorted(self.pairs, keys, side="right") - first)
        rows = rows_of(offsets)
        return rows, self.slots[np.arange(offsets[-1]) - offsets[rows] + first[rows]]

    def paths(self, starts: Ids) -> Paths:
        """All paths of two steps from each start to another entity than the start itself."""
        steps = places_in(self.offsets, starts)
        origins = rows_of(offsets_of(self.degrees[starts]))
        onward = places_in(self.offsets, self.ends[steps])
        from_step = rows_of(offsets_of(self.degrees[self.ends[steps]]))
        rows, ends = origins[from_step], self.ends[onward]
        gone = np.flatnonzero(ends != np.asarray(starts)[rows])
        steps = steps[from_step[gone]]
        return Paths(
            rows[gone], self.slots[steps], self.ends[steps], self.slots[onward[gone]], ends[gone]
        )

    def paths_between(self, starts: Ids, ends: Ids) -> Paths:
        """All paths of two steps from starts[i] to ends[i].

        They are looked for from the end that has fewer links.
        """
        turned = self.degrees[ends] < self.degrees[starts]
        near, far = np.where(turned, ends, starts), np.where(turned, starts, ends)
        steps = places_in(self.offsets, near)
        rows = rows_of(offsets_of(self.degrees[near]))
        middles = self.ends[steps]
        hits, onward = self.between(middles, far[rows])
        rows, slots, middles = rows[hits], self.slots[steps[hits]], middles[hits]
        back = turned[rows]
        return Paths(
            rows,
            np.where(back, self.names.inverse(onward), slots),
            middles,
            np.where(back, self.names.inverse(slots), onward),
            ends[rows],
        )


class Chains:
    """How many pairs of entities each chain joins, and how many of them each relation joins too.

    Pairs joined by a chain of one slot are all counted. Those joined by two slots are all counted
    if the graph has at most `budget` such paths; else only those that start at entities drawn at
    random. Support and cases are always counted over the same pairs.
    """

    def __init__(self, links: Links, budget: int = BUDGET, seed: int = 0) -> None:
        self.links, self.num_slots = links, links.names.num_slots
        cases, support = [], []
        for chains, relations in self._counted(budget, np.random.default_rng(seed)):
            cases.append(np.unique(chains, return_counts=True))
            support.append(np.unique(relations, return_counts=True))
        self.chains, self.cases = _summed(cases)  # (chain,)  ascending by key
        self.supported, self.support = _summed(support)  # (chain and relation,)  ascending by key

    def keys(self, first: Ids, second: Ids) -> Keys:
        """One number for each chain; `second` is NONE where the chain has one step."""
        return pair_keys(first, second - NONE, self.num_slots + 1)

    def weigh(self, chains: Keys, relation: int) -> tuple[Keys, Keys, NDArray[np.float64]]:
        """Support, cases, and support / (cases + PRIOR), of each chain for one relation."""
        cases = _looked_up(self.chains, self.cases, chains)
        keys = pair_keys(chains, np.array(relation), self.num_slots)
        support = _looked_up(self.supported, self.support, keys)
        return support, cases, support / (cases + PRIOR)

    def _counted(self, budget: int, rng: np.random.Generator) -> Iterator[tuple[Keys, Keys]]:
        """For each batch of pairs: their chains, and their chains together with relations."""
        links = self.links
        starts = rows_of(links.offsets)
        ones = self.keys(links.slots, np.full(len(links.slots), NONE))
        yield self._related(starts, links.ends, ones)
        for batch in _batches(_paths_from(links), budget, rng):
            paths = links.paths(batch)
            pairs = pair_keys(paths.rows, paths.ends, links.names.num_entities)
            # A pair that a chain joins through several entities is counted once.
            order = np.lexsort((chains := self.keys(paths.first, paths.second), pairs))
            new = (np.diff(pairs[order], prepend=-1) != 0) | (
                np.diff(chains[order], prepend=-1) != 0
            )
            once = order[new]
            yield self._related(batch[paths.rows[once]], paths.ends[once], chains[once])

    def _related(self, starts: Keys | Ids, ends: Ids, chains: Keys) -> tuple[Keys, Keys]:
        """The chains, and a key for each chain with each relation from its start to its end."""
        rows, slots = self.links.between(starts, ends)
        forward = slots < self.links.names.num_relations
        return chains, pair_keys(chains[rows[forward]], slots[forward], self.num_slots)


def evidence_for(facts: Ids, chains: Chains) -> Evidence:
    """The BEST chains from head to tail of each fact (fact, 3), with one example of each chain.

    All facts are of one relation. A chain without support for this relation is left out, and a
    fact that joins an entity to itself gets no evidence.
    """
    links = chains.links
    costs = np.minimum(links.degrees[facts[:, 0]], links.degrees[facts[:, 2]])
    batches = np.cumsum(costs) // TOGETHER
    parts = [
        _evidence_for(facts[batches == batch], chains) for batch in np.unique(batches).tolist()
    ]
    return Evidence.joined(parts) if parts else Evidence.nothing(0)


def _evidence_for(facts: Ids, chains: Chains) -> Evidence:
    heads, relations, tails = facts.T
    relation, count = int(relations[0]), chains.links.names.num_relations
    direct, slots = chains.links.between(heads, tails)
    other = slots != relation
    direct, slots = direct[other], slots[other]
    paths = chains.links.paths_between(heads, tails)
    none = np.full(len(slots), NONE, np.int32)
    rows = np.concatenate([direct, paths.rows])
    first, second = np.concatenate([slots, paths.first]), np.concatenate([none, paths.second])
    middles = np.concatenate([none, paths.middles])
    keys = chains.keys(first, second)
    support, cases, share = chains.weigh(keys, relation)
    speaks = (support > 0) & (heads != tails)[rows]
    # Chains that differ only in directions and have the same share come from a symmetric relation:
    # they say the same, so one of them is shown.
    undirected = chains.keys(first % count, np.where(second == NONE, NONE, second % count))
    order = np.lexsort((middles, keys, undirected, -share, rows))
    order = order[speaks[order]]
    alike = [np.diff(column[order], prepend=-1) == 0 for column in (rows, undirected, share)]
    order = order[~np.logical_and.reduce(alike)]
    starts = np.searchsorted(rows[order], rows[order])
    order = order[np.arange(len(order)) - starts < BEST]
    counts = np.bincount(rows[order], minlength=len(facts))
    return Evidence(
        frozen(offsets_of(counts), np.int64),
        frozen(np.stack([first[order], second[order]], axis=1)),
        frozen(middles[order]),
        frozen(support[order], np.int64),
        frozen(cases[order], np.int64),
    )


def _paths_from(links: Links) -> Keys:  # (entity,)
    """How many paths of two steps start at each entity."""
    onward = np.append(0, np.cumsum(links.degrees[links.ends]))
    counts: Keys = onward[links.offsets[1:]] - onward[links.offsets[:-1]]
    return counts


def _batches(paths: Keys, budget: int, rng: np.random.Generator) -> Iterator[Ids]:
    """Entities to start from, in batches of at most about BATCH paths, `budget` paths in all.

    An entity at which more than BATCH paths start is left out.
    """
    order = rng.permutation(np.flatnonzero((paths > 0) & (paths <= BATCH))).astype(np.int32)
    order = order[np.cumsum(paths[order]) <= budget]
    batch = np.cumsum(paths[order]) // BATCH
    for number in distinct(batch):
        yield order[batch == number]


def _summed(parts: list[tuple[Keys, Keys]]) -> tuple[Keys, Keys]:
    """The sum of the counts of each key, ascending by key."""
    keys, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    merged, places = np.unique(keys, return_inverse=True)
    return merged, np.bincount(places, counts, len(merged)).astype(np.int64)


def _looked_up(keys: Keys, values: Keys, wanted: Keys) -> Keys:
    """The value of each wanted key; 0 where there is no such key."""
    found = np.zeros(len(wanted), np.int64)
    there = found_in(keys, wanted)
    found[there] = values[np.searchsorted(keys, wanted[there])]
    return found
