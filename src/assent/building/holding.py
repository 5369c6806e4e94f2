"""Hold out a share of the facts of a graph that comes without splits."""

import numpy as np

from assent.core.arrays import Ids, Keys, Mask
from assent.core.facts import KnowledgeBase, Split


def hold_out(kb: KnowledgeBase, share: float, rng: np.random.Generator) -> Mask:  # (fact,)
    """Which facts are held out: valid and test where the graph has them, else a random share.

    Each entity and each relation names one of its facts, the one latest in a random order, as its
    last; these stay in train whatever the share, so that nothing is asked that was never seen.
    All facts between the same two entities are held out, or stay, together: a fact whose twin
    ("B borders A", "A has the city B") stands in train is hardly a question.
    """
    if kb.has_splits:
        held: Mask = kb.splits != Split.TRAIN
        return held
    order = rng.permutation(len(kb.facts))
    heads, relations, tails = kb.facts.T
    spare = np.ones(len(kb.facts), dtype=bool)
    ends = np.stack([heads, tails], axis=1)
    spare[_last_of_each(ends[order], order, kb.vocabulary.num_entities)] = False
    spare[_last_of_each(relations[order], order, kb.vocabulary.num_relations)] = False

    pairs = _places(
        ends.min(axis=1).astype(np.int64) * kb.vocabulary.num_entities + ends.max(axis=1)
    )
    sizes = np.bincount(pairs)
    spare_pairs = np.flatnonzero(np.bincount(pairs, weights=~spare) == 0)
    chosen = rng.permutation(spare_pairs)
    chosen = chosen[np.cumsum(sizes[chosen]) <= round(share * len(order))]
    return np.isin(pairs, chosen)


def _last_of_each(names: Ids, facts: Keys, size: int) -> Keys:
    """The last of `facts` for every name that occurs; a fact may have several names."""
    last = np.full(size, -1, dtype=np.int64)
    last[names.ravel()] = np.repeat(facts, names.size // max(len(facts), 1))
    return last[last >= 0]  # numpy keeps the last of repeated assignments


def _places(keys: Keys) -> Keys:
    """The place of each key among the distinct ones."""
    order = np.argsort(keys)
    places = np.empty(len(keys), dtype=np.int64)
    places[order] = np.cumsum(np.append(False, np.diff(keys[order]) != 0)[: len(keys)])
    return places
