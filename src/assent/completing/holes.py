"""Holes: entities without an answer where others of their kind have one.

If all people have a birthplace and 150 of 160 have a known one, ten facts are missing. If some
people have none, nothing need be missing. Which of both holds for a slot nobody says, but numbers
speak: in a slot where every entity of a kind has an answer, so many holes come up as facts are
missing (a binomial distribution); in any other slot, each number of holes is as probable as any
other. How many slots are of the first kind is found together with what the relations lack
(`lacking.py`). A graph that lacks nothing has slots without a single hole, and these say so loudly.

A kind is what has an answer in another slot, or a stated type: of all these, the one whose entities
are most nearly those of the slot.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, hstack
from scipy.stats import binom

from assent.core.arrays import Ids, Keys, pair_keys
from assent.core.queries import both_ways
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary

MOST_ANSWERS = (
    8  # an entity with more is taken to have so many; hardly ever are all of them missing
)

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Holes:
    """The holes of the slots that have a kind."""

    relations: Ids  # (slot,)      of which relation the slot is
    entities: Keys  # (slot,)      of the kind
    empty: Keys  # (slot,)         those without a known answer
    answers: Values  # (slot, MOST_ANSWERS)  of the others, the shares with 1, 2, ... answers
    held_out: float  # of the known facts, the share that is held out

    @classmethod
    def counted(
        cls, facts: Ids, lost: Ids, types: Types | None, names: Vocabulary, held_out: float
    ) -> Self:
        """In the known facts (fact, 3), of which this share is held out.

        `lost` (pair, 2) are anchors and slots of facts that are known as well.
        """
        anchors, slots, _ = both_ways(facts, names.num_relations)
        anchors = np.concatenate([anchors, lost[:, 0]]).astype(np.int64)
        slots = np.concatenate([slots, lost[:, 1]]).astype(np.int64)
        size, count = 2 * names.num_relations, names.num_entities
        pairs, many = np.unique(pair_keys(slots, anchors, count), return_counts=True)
        own, holders = np.divmod(pairs, count)
        has = _table(holders, own, (count, size))
        kinds = has if types is None else hstack([has, _typed(types)]).tocsc()
        kept, best, inside = _most_alike(has, kinds, names.num_relations)
        shares = np.zeros((size, MOST_ANSWERS))
        np.add.at(shares, (own, np.minimum(many, MOST_ANSWERS) - 1), 1)
        shares /= np.maximum(shares.sum(1, keepdims=True), 1)
        of_kind = np.diff(kinds.indptr)[best]
        return cls(
            (kept % names.num_relations).astype(np.int32),
            of_kind.astype(np.int64),
            of_kind - inside,
            shares[kept],
            held_out,
        )

    def fits(self, numbers: Values) -> Values:  # (number, slot)
        """How probable so many holes are if all of the kind have an answer.

        `numbers` (number,) are facts missing for each one held out.
        """
        missing = numbers * self.held_out
        lacks = missing / (1 + missing)
        powers = lacks[:, None] ** np.arange(1, MOST_ANSWERS + 1)  # all answers are missing
        fits: Values = binom.pmf(self.empty, self.entities, powers @ self.answers.T)
        return fits

    def otherwise(self) -> Values:  # (slot,)
        """How probable so many holes are if some of the kind have no answer."""
        return 1 / (self.entities + 1.0)


NO_HOLES = Holes(
    np.empty(0, np.int32),
    np.empty(0, np.int64),
    np.empty(0, np.int64),
    np.empty((0, MOST_ANSWERS)),
    0.0,
)


def _table(rows: Keys, columns: Ids | Keys, shape: tuple[int, int]) -> csc_array:
    return csc_array((np.ones(len(rows), np.int64), (rows, columns)), shape=shape)


def _typed(types: Types) -> csc_array:  # (entity, type)
    count = len(types.entity_offsets) - 1
    entities = np.repeat(np.arange(count), np.diff(types.entity_offsets))
    return _table(entities, types.entity_types, (count, len(types.names)))


def _most_alike(
    has: csc_array, kinds: csc_array, num_relations: int
) -> tuple[Keys, Keys, Keys]:  # (slot,) each
    """Slots with a kind, the kind most like each, and how many entities they have in common."""
    both = (has.T @ kinds).tocoo()  # (slot, kind)
    slots, others, common = both.row.astype(np.int64), both.col.astype(np.int64), both.data
    # Not a slot of the same relation.
    apart = (others >= 2 * num_relations) | (slots % num_relations != others % num_relations)
    slots, others, common = slots[apart], others[apart], common[apart]
    mine, theirs = np.diff(has.indptr)[slots], np.diff(kinds.indptr)[others]
    order = np.lexsort((others, -common / (mine + theirs - common), slots))
    first = order[np.diff(slots[order], prepend=-1) != 0]
    return slots[first], others[first], common[first]
