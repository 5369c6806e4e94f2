"""Turn held-out facts into queries (Appendix A.1, 6 and 7)."""

import numpy as np

from assent.core.arrays import Ids, Keys, Mask, distinct, found_in
from assent.core.queries import Queries, Subset, both_ways


def ask(answers: Ids, lost: Keys, num_entities: int, num_relations: int) -> Queries:
    """The questions that these facts answer, from both sides; those that lost an answer marked."""
    queries = Queries.grouped(*both_ways(answers, num_relations))
    robbed = found_in(lost, queries.keys(num_entities))
    return queries.marked(np.where(robbed, Subset.INCOMPLETE, Subset.COMPLETE))


def lost_keys(lost: Ids, gone: Mask, num_relations: int) -> Keys:
    """The questions that lost an answer, ascending: the anchor is the end that was kept."""
    anchors, relations, _ = both_ways(lost, num_relations)
    kept = ~gone[anchors]
    return distinct(relations[kept].astype(np.int64) * len(gone) + anchors[kept])


def ask_nothing(lost: Keys, answered: Keys, num_entities: int) -> Queries:
    """The paper's N: questions that lost all their answers. `answered` ascend."""
    relations, anchors = np.divmod(lost[~found_in(answered, lost)], num_entities)
    return Queries.empty(anchors, relations, Subset.INCOMPLETE)
