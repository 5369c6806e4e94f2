"""New facts: what was decided about each, how sure it is, and what speaks for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assent.core.arrays import Ids, Keys, Mask, frozen, offsets_of, places_in
from assent.core.scores import Scores
from assent.errors import DataError

TAIL, HEAD = 1, 2  # what was asked for; both: 3
SIDES = {TAIL: "tail", HEAD: "head", TAIL | HEAD: "both"}
NONE = -1  # no second step, no entity in the middle

Names = tuple[str, str, str]  # head, relation, tail


class Chain(NamedTuple):
    """Known facts that lead from a head to a tail, by name.

    Of the `cases` pairs of entities that such a chain joins, `support` stand in the relation that
    it speaks for.
    """

    facts: tuple[Names, ...]
    support: int
    cases: int


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Short chains of known facts from the head of each new fact to its tail, the best first.

    A step is a slot: an inverse relation is gone along backwards.
    """

    offsets: Keys  # (fact + 1,)
    steps: Ids  # (chain, 2)    slots; the second NONE where the chain is one fact
    middles: Ids  # (chain,)    the entity between the two steps, or NONE
    support: Keys  # (chain,)
    cases: Keys  # (chain,)

    def __post_init__(self) -> None:
        if {len(column) for column in self._columns()} != {int(self.offsets[-1])}:
            raise DataError("evidence: offsets do not match the chains")

    @classmethod
    def nothing(cls, num_facts: int) -> Self:
        """For none of so many facts is there any."""
        offsets, zero = frozen(np.zeros(num_facts + 1), np.int64), frozen([], np.int64)
        return cls(offsets, frozen(np.empty((0, 2))), frozen([]), zero, zero)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The evidence of all parts, one after another."""
        counts = np.concatenate([np.diff(part.offsets) for part in parts])
        columns = zip(*(part._columns() for part in parts), strict=True)
        return cls(_kept(offsets_of(counts)), *(_kept(np.concatenate(c)) for c in columns))

    def take(self, facts: Keys) -> Self:
        """That of the facts at these places."""
        places = places_in(self.offsets, facts)
        columns = (_kept(column[places]) for column in self._columns())
        return type(self)(_kept(offsets_of(np.diff(self.offsets)[facts])), *columns)

    def chain(
        self, place: int, head: int, tail: int, num_relations: int
    ) -> list[tuple[int, int, int]]:
        """The facts of a chain; a step along an inverse relation is a fact the other way round."""
        middle = int(self.middles[place])
        stops = [head, tail] if middle == NONE else [head, middle, tail]
        facts = []
        for slot, start, end in zip(self.steps[place].tolist(), stops, stops[1:], strict=False):
            backwards, relation = divmod(slot, num_relations)
            facts.append((end, relation, start) if backwards else (start, relation, end))
        return facts

    def _columns(self) -> tuple[NDArray[Any], ...]:
        """All but the offsets."""
        return self.steps, self.middles, self.support, self.cases


@dataclass(frozen=True, slots=True, eq=False)
class NewFacts:
    """Facts that are not known, each once: accepted, or to be reviewed by a person."""

    facts: Ids  # (fact, 3)
    accepted: Mask  # (fact,)
    probabilities: NDArray[np.float64]  # (fact,)
    scores: Scores  # (fact,)
    thresholds: NDArray[np.float64]  # (fact,)  what the score had to exceed
    expected: NDArray[np.float64]  # (fact,)  precision of such decisions on valid; nan: not known
    sides: Ids  # (fact,)  TAIL, HEAD or both: which questions led to the decision
    evidence: Evidence

    def __post_init__(self) -> None:
        if {len(column) for column in self._columns()} != {len(self.evidence.offsets) - 1}:
            raise DataError("new facts: columns of different lengths")

    @classmethod
    def nothing(cls) -> Self:
        kinds = (np.int32, np.bool_, np.float64, np.float32, np.float64, np.float64, np.int32)
        facts, *columns = (frozen([], kind) for kind in kinds)
        made: list[Any] = [facts.reshape(0, 3), *columns, Evidence.nothing(0)]
        return cls(*made)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """All facts of all parts, one after another."""
        parts = parts or [cls.nothing()]
        columns = zip(*(part._columns() for part in parts), strict=True)
        made: list[Any] = [_kept(np.concatenate(column)) for column in columns]
        return cls(*[*made, Evidence.joined([part.evidence for part in parts])])

    def __len__(self) -> int:
        return len(self.facts)

    def take(self, rows: ArrayLike) -> Self:
        """The facts at these places, or under this mask."""
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
        made: list[Any] = [_kept(column[rows]) for column in self._columns()]
        return type(self)(*[*made, self.evidence.take(rows)])

    def _columns(self) -> tuple[NDArray[Any], ...]:
        """All but the evidence."""
        return (
            self.facts,
            self.accepted,
            self.probabilities,
            self.scores,
            self.thresholds,
            self.expected,
            self.sides,
        )


def _kept(values: NDArray[Any]) -> NDArray[Any]:
    return frozen(values, values.dtype.type)
