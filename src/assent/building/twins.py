"""Relations that say the same as another, or its reverse, and the facts that this gives away."""

from typing import NamedTuple

import numpy as np

from assent.core.arrays import Ids, Keys, Mask, found_in
from assent.core.facts import fact_keys
from assent.core.vocabulary import Vocabulary

OVERLAP = 0.8  # of a relation's facts are stated by its twin as well


class Twins(NamedTuple):
    """How many facts are given away by a twin relation."""

    inverse: int
    same: int
    either: int


def facts_with_twin(facts: Ids, train: Ids, vocabulary: Vocabulary) -> Twins:
    """Facts that train states already in the words of a twin relation."""
    known = np.sort(fact_keys(train, vocabulary))
    inverse = _stated(
        facts[:, ::-1], facts, twin_relations(train, train[:, ::-1], vocabulary), known, vocabulary
    )
    same_pairs = twin_relations(train, train, vocabulary)
    same = _stated(
        facts, facts, same_pairs[same_pairs[:, 0] != same_pairs[:, 1]], known, vocabulary
    )
    return Twins(int(inverse.sum()), int(same.sum()), int(np.sum(inverse | same)))


def twin_relations(facts: Ids, others: Ids, vocabulary: Vocabulary) -> Ids:  # (pair, 2)
    """Pairs (r, s): nearly all entity pairs of r in `facts` are pairs of s in `others`."""
    num_entities, num_relations = vocabulary.num_entities, vocabulary.num_relations
    pairs = _pair_keys(facts, num_entities)
    other_pairs = _pair_keys(others, num_entities)
    order = np.argsort(other_pairs, kind="stable")
    first = np.searchsorted(other_pairs[order], pairs, side="left")
    last = np.searchsorted(other_pairs[order], pairs, side="right")
    times = last - first
    places = np.arange(times.sum()) + np.repeat(first - np.append(0, np.cumsum(times)[:-1]), times)
    r = np.repeat(facts[:, 1].astype(np.int64), times)
    s = others[order[places], 1]
    shared = np.bincount(r * num_relations + s, minlength=num_relations**2)
    sizes = np.bincount(facts[:, 1], minlength=num_relations)
    table = shared.reshape(num_relations, num_relations)
    return np.argwhere((table > 0) & (table >= OVERLAP * sizes[:, None])).astype(np.int32)


def _stated(
    said: Ids, facts: Ids, twins: Ids, known: Keys, vocabulary: Vocabulary
) -> Mask:  # (fact,)
    """Whether some twin of a fact's relation states `said`, the fact or its reverse, in train."""
    found = np.zeros(len(facts), dtype=bool)
    for relation, twin in twins:
        rows = np.flatnonzero(facts[:, 1] == relation)
        asked = said[rows].copy()
        asked[:, 1] = twin
        found[rows] |= found_in(known, fact_keys(asked, vocabulary))
    return found


def _pair_keys(facts: Ids, num_entities: int) -> Keys:
    return facts[:, 0].astype(np.int64) * num_entities + facts[:, 2]
