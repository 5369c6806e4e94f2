"""Hold out a share of the facts of a graph that comes without splits."""

import numpy as np

from assent.core.arrays import Mask
from assent.core.facts import KnowledgeBase, Split


def hold_out(kb: KnowledgeBase, share: float, rng: np.random.Generator) -> Mask:  # (fact,)
    """Which facts are held out: valid and test where the graph has them, else a random share.

    Each entity and each relation names one of its facts, the one latest in a random order, as its
    last; these stay in train whatever the share, so that nothing is asked that was never seen.
    """
    if kb.has_splits:
        return kb.splits != Split.TRAIN
    order = rng.permutation(len(kb.facts))
    spare = np.ones(len(kb.facts), dtype=bool)
    for column, size in (
        (0, kb.vocabulary.num_entities),
        (1, kb.vocabulary.num_relations),
        (2, kb.vocabulary.num_entities),
    ):
        spare[_last_of_each(kb.facts[order, column], order, size)] = False
    candidates = order[spare[order]]
    chosen = candidates[: round(share * len(kb.facts))]
    held = np.zeros(len(kb.facts), dtype=bool)
    held[chosen] = True
    return held


def _last_of_each(names: np.ndarray, facts: np.ndarray, size: int) -> np.ndarray:
    """The last of `facts` for every name that occurs."""
    last = np.full(size, -1, dtype=np.int64)
    last[names] = facts  # numpy keeps the last of repeated assignments
    return last[last >= 0]
