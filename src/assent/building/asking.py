"""Turn held-out facts into queries, and deal these to valid and test (Appendix A.1, 6 to 8)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from assent.core.arrays import Ids, Keys, Mask, distinct, found_in, pair_keys
from assent.core.queries import Queries, Subset, both_ways
from assent.core.vocabulary import Vocabulary

VALID, TEST = 0, 1


def ask(answers: Ids, lost: Keys, vocabulary: Vocabulary) -> Queries:
    """The queries that these facts answer, for their tails and for their heads.

    Those among `lost`, which ascend, are incomplete; the others are complete.
    """
    queries = Queries.grouped(*both_ways(answers, vocabulary.num_relations))
    incomplete = found_in(lost, queries.keys(vocabulary.num_entities))
    return queries.marked(np.where(incomplete, Subset.INCOMPLETE, Subset.COMPLETE))


def lost_keys(lost: Ids, gone: Mask, num_relations: int) -> Keys:
    """The keys of the queries that lost an answer, ascending: anchors are the ends that were kept.

    `lost` are facts with one end among the entities that are `gone`.
    """
    anchors, slots, _ = both_ways(lost, num_relations)
    kept = ~gone[anchors]
    return distinct(pair_keys(slots[kept], anchors[kept], len(gone)))


def ask_nothing(lost: Keys, answered: Keys, num_entities: int) -> Queries:
    """The paper's N: queries that lost an answer and have none left. `answered` ascend."""
    slots, anchors = np.divmod(lost[~found_in(answered, lost)], num_entities)
    return Queries.empty(anchors, slots, Subset.INCOMPLETE)


class Quota(NamedTuple):
    """A number of queries for heads, and for tails; of fakes, how many a benchmark takes."""

    heads: int
    tails: int


def fakes_wanted(answered: Queries, none: Queries, vocabulary: Vocabulary) -> Quota:
    """How many fakes make as many queries without answers as there are with answers."""
    sides = (
        Quota(heads, len(part) - heads)
        for part in (answered, none)
        for heads in [int(np.sum(vocabulary.asks_for_head(part.relations)))]
    )
    return balanced(*sides)


def balanced(answered: Quota, none: Quota) -> Quota:
    """How many fakes are wanted beside so many answered queries, and so many that lost all answers.

    Of those without answers, at most half lost them all (`none`). Each side has its own balance,
    as in FB14k-QAQ: as many head queries without answers as with answers.
    """
    kept = min(sum(none), (sum(answered) + 1) // 2)
    wanted = sum(answered) - kept
    head_share = none.heads / sum(none) if sum(none) else 0.0
    heads = min(max(answered.heads - round(head_share * kept), 0), wanted)
    return Quota(heads, wanted - heads)


def deal_evenly(groups: ArrayLike, rng: np.random.Generator) -> Keys:  # (item,)
    """VALID or TEST for each item: even within each group, even overall, random within both."""
    groups = np.asarray(groups)
    order = rng.permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    dealt = np.empty(len(groups), dtype=np.int64)
    dealt[order] = (np.arange(len(groups)) + rng.integers(2)) % 2
    return dealt


def deal_queries(queries: Queries, rng: np.random.Generator) -> tuple[Queries, Queries]:
    """Whole queries dealt to valid and test, evenly within each slot and subset."""
    dealt = deal_evenly(pair_keys(queries.relations, queries.subsets, len(Subset)), rng)
    return queries.take(dealt == VALID), queries.take(dealt == TEST)
