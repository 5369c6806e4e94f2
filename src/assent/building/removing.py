"""Hold facts out, and take entities out of the graph (Appendix A.1, 1 to 5).

Held-out facts are what queries ask for; with the entities, some queries lose answers.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assent.core.arrays import Ids, Keys, Mask, pair_keys
from assent.core.facts import KnowledgeBase, Split
from assent.core.queries import both_ways
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError, DataError

AUTO_LIMIT = 0.25  # `auto` takes at most this share of the entities


def hold_out(kb: KnowledgeBase, share: float, rng: np.random.Generator) -> Mask:  # (fact,)
    """Which facts are held out: valid and test where the graph has them, else a random share.

    One fact of each entity and of each relation stays in train whatever the share, so that
    nothing is asked about that was never seen: the one that comes last in a random order.
    All facts between the same two entities are held out, or stay, together: where train states
    "A borders B", the answer to "what does B border?" would be given away.
    """
    if kb.has_splits:
        held: Mask = kb.splits != Split.TRAIN
        return held
    order = rng.permutation(len(kb.facts))
    heads, relations, tails = kb.facts.T
    spare = np.ones(len(kb.facts), dtype=bool)
    ends = np.stack([heads, tails], axis=1)
    spare[last_of_each(ends[order], order, kb.vocabulary.num_entities)] = False
    spare[last_of_each(relations[order], order, kb.vocabulary.num_relations)] = False

    return pairs_held_out(kb.facts, spare, share, kb.vocabulary.num_entities, rng)


def pairs_held_out(
    facts: Ids, spare: Mask, share: float, num_entities: int, rng: np.random.Generator
) -> Mask:  # (fact,)
    """A random share of the facts: of each pair of entities all, and only `spare` ones, or none."""
    ends = facts[:, [0, 2]]
    pairs = _places(pair_keys(ends.min(axis=1), ends.max(axis=1), num_entities))
    sizes = np.bincount(pairs)
    spare_pairs = np.flatnonzero(np.bincount(pairs, weights=~spare) == 0)
    chosen = rng.permutation(spare_pairs)
    chosen = chosen[np.cumsum(sizes[chosen]) <= round(share * len(facts))]
    return np.isin(pairs, chosen)


def lowest_pairs(facts: Ids, hashes: Keys, share: float, vocabulary: Vocabulary) -> Mask:  # (fact,)
    """A share of the facts, as `hold_out` chooses, by the `hashes` (fact,) of pairs of entities.

    The pairs with the lowest hashes are held out. What stays of each entity and each relation is
    the pair with the highest.
    """
    heads, relations, tails = facts.T
    of_entity = np.full(vocabulary.num_entities, -1, dtype=np.int64)
    of_relation = np.full(vocabulary.num_relations, -1, dtype=np.int64)
    np.maximum.at(of_entity, np.concatenate([heads, tails]), np.concatenate([hashes, hashes]))
    np.maximum.at(of_relation, relations, hashes)
    of_ends = np.minimum(of_entity[heads], of_entity[tails])
    stays = hashes >= np.minimum(of_ends, of_relation[relations])
    pairs, places, sizes = np.unique(hashes, return_inverse=True, return_counts=True)
    spare = np.bincount(places, weights=stays, minlength=len(pairs)) == 0
    taken = spare & (np.cumsum(np.where(spare, sizes, 0)) <= round(share * len(facts)))
    held: Mask = taken[places]
    return held


class UnknownEntityError(DataError):
    """An entity that is to be removed, and is not in the graph."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"removed entity {name!r} is not in the graph; leave it out, or give the name that "
            "the graph has"
        )
        self.name = name


class Removal(NamedTuple):
    """The facts that are left, by what they are used for."""

    train: Ids  # (fact, 3)  both ends kept
    answers: Ids  # (fact, 3)  held out, both ends kept: each is an answer to two queries
    lost: Ids  # (fact, 3)  one end removed: a query about the other end lost this answer


def remove(facts: Ids, held: Mask, gone: Mask) -> Removal:
    """Drops facts with both ends removed. Facts with one end removed are lost, train facts too."""
    ends = gone[facts[:, 0]].astype(np.int8) + gone[facts[:, 2]]
    train = facts[(ends == 0) & ~held]
    if not len(train):
        raise no_train_fact(int(gone.sum()), len(gone))
    return Removal(train, facts[(ends == 0) & held], facts[ends == 1])


def no_train_fact(gone: int, num_entities: int) -> DataError:
    """What to say where nothing is left to learn from."""
    return DataError(
        f"removing {gone:,} of {num_entities:,} entities leaves no train fact; remove fewer"
    )


def named(names: Sequence[str], vocabulary: Vocabulary) -> Mask:  # (entity,)
    """The entities of these names."""
    ids = {name: entity for entity, name in enumerate(vocabulary.entities)}
    unknown = [name for name in names if name not in ids]
    if unknown:
        raise UnknownEntityError(unknown[0])
    gone = np.zeros(vocabulary.num_entities, dtype=bool)
    gone[[ids[name] for name in names]] = True
    return gone


def first_of(order: Keys, count: int) -> Mask:  # (entity,)
    """The first `count` entities of a random order."""
    if not 0 <= count < len(order):
        raise ConfigError(f"removed = {count:,}; choose from 0 to {len(order) - 1:,}")
    gone = np.zeros(len(order), dtype=bool)
    gone[order[:count]] = True
    return gone


def quarter(facts: Ids, held: Mask, order: Keys, dealt: Keys, num_relations: int) -> int:
    """How many entities to remove so that queries that lost all answers make a quarter of all.

    The fewest for which there are half as many such queries as answered ones: fakes make the last
    quarter. Where the limit comes first, the number that comes closest.
    """
    return fewest(*outcomes(facts, held, order, dealt, num_relations), auto_limit(len(order)))


def auto_limit(num_entities: int) -> int:
    """How many entities `auto` takes at most."""
    return max(1, int(AUTO_LIMIT * num_entities))


def fewest(none: Keys, answered: Keys, limit: int) -> int:
    """The fewest entities to remove, from the `outcomes` of each number."""
    none, answered = none[: limit + 1], answered[: limit + 1]
    useful = answered > 0
    enough = np.flatnonzero(useful & (2 * none >= answered))
    if len(enough):
        return int(enough[0])
    return int(np.argmax(np.where(useful, none / np.maximum(answered, 1), 0)))


def outcomes(
    facts: Ids, held: Mask, order: Keys, dealt: Keys, num_relations: int
) -> tuple[Keys, Keys]:  # (entity + 1,) each
    """The number of empty and of answered queries for every number of removed entities at once.

    With entities removed in `order`, each query is empty, or answered, for one unbroken range of
    that number; so the counts are running sums of where the ranges start and end. `dealt` says to
    which split each held-out fact would go: a query asked in both splits counts twice.
    """
    size = len(order)
    if not len(facts):
        return np.zeros(size + 1, dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
    rank = np.empty(size, dtype=np.int64)
    rank[order] = np.arange(size)
    anchors, relations, answers = both_ways(facts, num_relations)
    keys = pair_keys(relations, anchors, size)
    held_twice = np.concatenate([held, held])
    left = rank[answers]  # an answer is there while no more than this many are removed

    by_key = np.argsort(keys, kind="stable")
    starts = _starts(keys[by_key])
    first_lost = np.minimum.reduceat(left[by_key], starts)
    last_answer = np.maximum.reduceat(np.where(held_twice, left, -1)[by_key], starts)
    empty_from = np.maximum(first_lost, last_answer) + 1
    empty_to = rank[anchors[by_key][starts]]
    none = _covered(empty_from, empty_to, size)

    rows = np.flatnonzero(held_twice)
    if not len(rows):
        return none, np.zeros(size + 1, dtype=np.int64)
    groups = pair_keys(keys[rows], np.concatenate([dealt, dealt])[rows], 2)
    by_group = rows[np.argsort(groups, kind="stable")]
    starts = _starts(np.sort(groups))
    answered_to = np.minimum(
        np.maximum.reduceat(left[by_group], starts), rank[anchors[by_group][starts]]
    )
    return none, _covered(np.zeros_like(answered_to), answered_to, size)


def last_of_each(names: Ids, facts: Keys, size: int) -> Keys:
    """For each name that occurs, the last of `facts` that has it; a fact may have several names."""
    last = np.full(size, -1, dtype=np.int64)
    last[names.ravel()] = np.repeat(facts, names.size // max(len(facts), 1))
    return last[last >= 0]  # numpy keeps the last of repeated assignments


def _places(keys: Keys) -> Keys:
    """The place of each key among the distinct ones."""
    order = np.argsort(keys)
    places = np.empty(len(keys), dtype=np.int64)
    places[order] = np.cumsum(np.append(False, np.diff(keys[order]) != 0)[: len(keys)])
    return places


def _starts(ascending: Keys) -> Keys:
    """Where each run of equal keys starts."""
    return np.flatnonzero(np.append(True, np.diff(ascending) != 0))


def _covered(first: Keys, last: Keys, size: int) -> Keys:  # (size + 1,)
    """How many of the ranges [first, last] hold each number from 0 to `size`."""
    real = first <= last
    opened = np.bincount(first[real], minlength=size + 2)
    closed = np.bincount(last[real] + 1, minlength=size + 2)
    return np.cumsum(opened - closed)[: size + 1]
