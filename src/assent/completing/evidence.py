"""The few known facts that speak for a new one most."""

import numpy as np

from assent.completing.chains import Chains
from assent.core.arrays import Ids, frozen, offsets_of
from assent.core.completions import NONE, Evidence

BEST = 3  # chains that a fact is shown with
TOGETHER = 2_000_000  # links looked at together


def evidence_for(facts: Ids, chains: Chains) -> Evidence:
    """The chains from head to tail that most often go with the relation, an example of each.

    The facts (fact, 3) are all of one relation. Chains that never go with it say nothing, and a
    fact about one entity alone has none.
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
    relation = int(relations[0])
    direct, slots = chains.links.between(heads, tails)
    other = slots != relation
    direct, slots = direct[other], slots[other]
    paths = chains.links.paths_between(heads, tails)
    nobody = np.full(len(slots), NONE, np.int32)
    rows = np.concatenate([direct, paths.rows])
    first, second = np.concatenate([slots, paths.first]), np.concatenate([nobody, paths.second])
    middles = np.concatenate([nobody, paths.middles])
    keys = chains.keys(first, second)
    support, cases, share = chains.weigh(keys, relation)
    speaks = (support > 0) & (heads != tails)[rows]
    # The same relations the other way round and of the same weight: that is one that is symmetric.
    count = chains.links.num_slots // 2
    turned = chains.keys(first % count, np.where(second == NONE, NONE, second % count))
    order = np.lexsort((middles, keys, turned, -share, rows))
    order = order[speaks[order]]
    # One example of each chain: equal chains of a fact stand together.
    alike = [np.diff(column[order], prepend=-1) == 0 for column in (rows, turned, share)]
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
