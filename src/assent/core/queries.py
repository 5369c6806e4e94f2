"""Queries (anchor, relation, ?) with their answer sets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from assent.core.arrays import (
    Ids,
    Keys,
    Mask,
    found_in,
    frozen,
    offsets_of,
    pair_keys,
    places_in,
    rows_of,
)
from assent.errors import DataError


class Subset(IntEnum):
    """What was done to a query's answers. Incomplete with no answer left is the paper's N."""

    COMPLETE = 0
    INCOMPLETE = 1
    FAKE = 2


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Queries (anchor, slot, ?) and the answers we know."""

    anchors: Ids  # (query,)
    relations: Ids  # (query,)      an inverse relation asks for the head
    offsets: Keys  # (query + 1,)   answers of query q: answers[offsets[q]:offsets[q + 1]]
    answers: Ids  # (answer,)
    subsets: Ids  # (query,)        Subset

    def __repr__(self) -> str:
        return f"Queries({len(self):,} queries, {len(self.answers):,} answers)"

    def __post_init__(self) -> None:
        count = len(self.anchors)
        if not (len(self.relations) == len(self.subsets) == len(self.offsets) - 1 == count):
            raise DataError("queries: columns of different lengths")
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.answers):
            raise DataError("queries: offsets do not match the answers")

    @classmethod
    def grouped(cls, anchors: Ids, relations: Ids, answers: Ids) -> Self:
        """Groups single (anchor, relation, answer) rows, none of them twice, into queries.

        Queries ascend by relation, then anchor; answers ascend too.
        """
        order = np.lexsort((answers, anchors, relations))
        anchors, relations = anchors[order], relations[order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = (np.diff(anchors) != 0) | (np.diff(relations) != 0)
        starts = np.flatnonzero(first)
        offsets = np.append(starts, len(order)).astype(np.int64)
        complete = np.full(len(starts), Subset.COMPLETE)
        return cls(
            frozen(anchors[starts]),
            frozen(relations[starts]),
            frozen(offsets, np.int64),
            frozen(answers[order]),
            frozen(complete),
        )

    @classmethod
    def empty(cls, anchors: ArrayLike, relations: ArrayLike, subset: Subset) -> Self:
        """Queries without answers."""
        anchors = frozen(anchors)
        return cls(
            anchors,
            frozen(relations),
            frozen(np.zeros(len(anchors) + 1), np.int64),
            frozen([]),
            frozen(np.full(len(anchors), subset)),
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """All queries of all parts, one after another."""
        counts = np.concatenate([part.num_answers for part in parts])
        return cls(
            frozen(np.concatenate([part.anchors for part in parts])),
            frozen(np.concatenate([part.relations for part in parts])),
            frozen(offsets_of(counts), np.int64),
            frozen(np.concatenate([part.answers for part in parts])),
            frozen(np.concatenate([part.subsets for part in parts])),
        )

    def __len__(self) -> int:
        return len(self.anchors)

    @property
    def num_answers(self) -> Keys:  # (query,)
        return np.diff(self.offsets)

    @property
    def has_answers(self) -> Mask:  # (query,)
        return self.num_answers > 0

    @property
    def is_none(self) -> Mask:  # (query,)
        """The paper's N: every answer was removed."""
        incomplete: Mask = self.subsets == Subset.INCOMPLETE
        return incomplete & ~self.has_answers

    def keys(self, num_entities: int) -> Keys:  # (query,)
        """One number a query, ascending with (slot, anchor)."""
        return pair_keys(self.relations, self.anchors, num_entities)

    def answers_to(self, asked: "Queries", num_entities: int) -> tuple[Keys, Ids]:
        """The answers known here to each query asked, as offsets (query + 1,) and ids.

        These queries ascend by relation, then anchor, as `grouped` leaves them.
        """
        mine, keys = self.keys(num_entities), asked.keys(num_entities)
        rows = np.flatnonzero(found_in(mine, keys))
        places = np.searchsorted(mine, keys[rows])
        counts = np.zeros(len(keys), np.int64)
        counts[rows] = self.num_answers[places]
        return offsets_of(counts), self.answers[places_in(self.offsets, places)]

    def facts(self, num_relations: int) -> Ids:  # (answer, 3)
        """Every answer as the fact that it makes with its query."""
        rows = rows_of(self.offsets)
        anchors, relations = self.anchors[rows], self.relations[rows]
        inverse = relations >= num_relations
        return frozen(
            np.stack(
                [
                    np.where(inverse, self.answers, anchors),
                    relations % num_relations,
                    np.where(inverse, anchors, self.answers),
                ],
                axis=1,
            )
        )

    def take(self, rows: ArrayLike) -> Self:
        """The queries at these places, or under this mask."""
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
        rows = np.where(rows < 0, rows + len(self), rows)
        places = places_in(self.offsets, rows)
        return type(self)(
            frozen(self.anchors[rows]),
            frozen(self.relations[rows]),
            frozen(offsets_of(self.num_answers[rows]), np.int64),
            frozen(self.answers[places]),
            frozen(self.subsets[rows]),
        )

    def marked(self, subsets: ArrayLike) -> Self:
        """The same queries in other subsets."""
        return type(self)(self.anchors, self.relations, self.offsets, self.answers, frozen(subsets))


def both_ways(facts: Ids, num_relations: int) -> tuple[Ids, Ids, Ids]:
    """Each fact as two rows (anchor, relation, answer): its tail asked for, then its head."""
    heads, relations, tails = facts.T
    return (
        np.concatenate([heads, tails]),
        np.concatenate([relations, relations + np.int32(num_relations)]),
        np.concatenate([tails, heads]),
    )


Sets = Mapping[str, Callable[[Queries], Mask]]

# The sets of queries that results are told for.
SETS: Sets = {
    "full": lambda queries: np.ones(len(queries), dtype=bool),
    "C": lambda queries: queries.subsets == Subset.COMPLETE,
    "C+F": lambda queries: queries.subsets != Subset.INCOMPLETE,
    "I": lambda queries: queries.subsets == Subset.INCOMPLETE,
    "N": lambda queries: queries.is_none,
    "F": lambda queries: queries.subsets == Subset.FAKE,
}
WITH_ANSWERS = ("full", "C", "C+F", "I")  # the sets in which there are answers to find


def sets_about_new(first_new: int) -> Sets:
    """The sets that are told where an entity of each query is new: its id is `first_new` or more.

    Queries that have answers are new at the anchor or among the answers, never at both.
    """
    return {
        "full": SETS["full"],
        "new anchor": lambda queries: queries.has_answers & (queries.anchors >= first_new),
        "new answers": lambda queries: queries.has_answers & (queries.anchors < first_new),
        "no answer": lambda queries: ~queries.has_answers,
    }
