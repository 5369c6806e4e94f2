"""How many queries of each kind, and which go to valid and which to test."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from assent.core.arrays import Keys
from assent.core.queries import Queries, Subset

VALID, TEST = 0, 1


class Quota(NamedTuple):
    """How many fake queries a benchmark takes."""

    heads: int
    tails: int


def fakes_wanted(answered: Queries, none: Queries, num_relations: int) -> Quota:
    """Half of the queries have answers, at most a quarter lost all of theirs, fakes fill up.

    Each side keeps its own balance, as in FB14k-QAQ: as many empty as answered head queries.
    """
    kept = min(len(none), (len(answered) + 1) // 2)
    wanted = len(answered) - kept
    head_share = np.mean(none.relations >= num_relations) if len(none) else 0.0
    heads = int(np.sum(answered.relations >= num_relations)) - round(head_share * kept)
    heads = min(max(heads, 0), wanted)
    return Quota(heads, wanted - heads)


def halves_of(groups: ArrayLike, rng: np.random.Generator) -> Keys:
    """VALID or TEST for each item: even within each group, even overall, random within both."""
    groups = np.asarray(groups)
    order = rng.permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    halves = np.empty(len(groups), dtype=np.int64)
    halves[order] = (np.arange(len(groups)) + rng.integers(2)) % 2
    return halves


def halved(queries: Queries, rng: np.random.Generator) -> tuple[Queries, Queries]:
    """Whole queries dealt into valid and test, evenly within each relation and subset."""
    halves = halves_of(queries.relations * len(Subset) + queries.subsets, rng)
    return queries.take(halves == VALID), queries.take(halves == TEST)
