"""New facts: what was decided about each, how probable it is, and which known facts support it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assent.core.arrays import Ids, Keys, Mask, frozen, offsets_of, places_in
from assent.core.scores import Scores
from assent.core.vocabulary import SIDES, Vocabulary
from assent.errors import DataError

TAIL, HEAD = 1, 2  # which end was asked for; TAIL | HEAD: both
ASKED = {TAIL: SIDES[0], HEAD: SIDES[1], TAIL | HEAD: "both"}
DECISIONS = ("accepted", "review")
NONE = -1  # stands where a chain has no second step and no entity in the middle

Values = NDArray[np.float64]
Fact = tuple[int, int, int]  # head, relation, tail


class Chain(NamedTuple):
    """One or two known facts that lead from the head of a new fact to its tail.

    Such a chain of relations joins `cases` pairs of entities in the graph; for `support` of these
    pairs the graph also has a fact with the relation of the new fact.
    """

    facts: tuple[Fact, ...]
    support: int
    cases: int


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The chains of a list of new facts, those of each fact together, the best first.

    A step is a slot. Slot r goes from the head of a known fact to its tail, and the inverse slot
    from its tail to its head.
    """

    offsets: Keys  # (fact + 1,)  chains of fact f: offsets[f] to offsets[f + 1]
    steps: Ids  # (chain, 2)      slots; the second is NONE where the chain is one fact
    middles: Ids  # (chain,)      the entity between the two steps, or NONE
    support: Keys  # (chain,)
    cases: Keys  # (chain,)

    def __post_init__(self) -> None:
        if {len(column) for column in self._columns()} != {int(self.offsets[-1])}:
            raise DataError("evidence: offsets do not match the chains")

    @classmethod
    def nothing(cls, num_facts: int) -> Self:
        """No chains, for this number of facts."""
        offsets, zero = frozen(np.zeros(num_facts + 1), np.int64), frozen([], np.int64)
        return cls(offsets, frozen(np.empty((0, 2))), frozen([]), zero, zero)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The evidence of all parts, one after another."""
        counts = np.concatenate([np.diff(part.offsets) for part in parts])
        columns = zip(*(part._columns() for part in parts), strict=True)
        return cls(_kept(offsets_of(counts)), *(_kept(np.concatenate(c)) for c in columns))

    def take(self, facts: Keys) -> Self:
        """The evidence of the facts at these places."""
        places = places_in(self.offsets, facts)
        columns = (_kept(column[places]) for column in self._columns())
        return type(self)(_kept(offsets_of(np.diff(self.offsets)[facts])), *columns)

    def _columns(self) -> tuple[NDArray[Any], ...]:
        """All but the offsets."""
        return self.steps, self.middles, self.support, self.cases


@dataclass(frozen=True, slots=True, eq=False)
class NewFacts:
    """Facts that the graph does not have, each once: accepted, or for a person to review."""

    vocabulary: Vocabulary
    facts: Ids  # (fact, 3)
    accepted: Mask  # (fact,)
    probabilities: Values  # (fact,)
    scores: Scores  # (fact,)
    thresholds: Values  # (fact,)  a fact is accepted if its score is higher; inf: none is
    expected: Values  # (fact,)    precision expected of the accepted facts like it; nan: not known
    sides: Ids  # (fact,)          TAIL, HEAD or both: the queries that led to the decision
    evidence: Evidence

    def __post_init__(self) -> None:
        if {len(column) for column in self._columns()} != {len(self.evidence.offsets) - 1}:
            raise DataError("new facts: columns of different lengths")

    @classmethod
    def nothing(cls, vocabulary: Vocabulary) -> Self:
        """No facts."""
        kinds = (np.int32, np.bool_, np.float64, np.float32, np.float64, np.float64, np.int32)
        facts, *columns = (frozen([], kind) for kind in kinds)
        made: list[Any] = [facts.reshape(0, 3), *columns, Evidence.nothing(0)]
        return cls(vocabulary, *made)

    @classmethod
    def joined(cls, parts: Sequence[Self], vocabulary: Vocabulary) -> Self:
        """The facts of all parts, one after another; all parts have this vocabulary."""
        if not parts:
            return cls.nothing(vocabulary)
        columns = zip(*(part._columns() for part in parts), strict=True)
        made: list[Any] = [_kept(np.concatenate(column)) for column in columns]
        made.append(Evidence.joined([part.evidence for part in parts]))
        return cls(vocabulary, *made)

    def __len__(self) -> int:
        return len(self.facts)

    @property
    def decisions(self) -> NDArray[np.str_]:  # (fact,)
        """`accepted` or `review`."""
        return np.where(self.accepted, *DECISIONS)

    def take(self, rows: ArrayLike) -> Self:
        """The facts at these places, or under this mask."""
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
        made: list[Any] = [_kept(column[rows]) for column in self._columns()]
        return type(self)(self.vocabulary, *[*made, self.evidence.take(rows)])

    def chains(self, place: int) -> list[Chain]:
        """The evidence for the fact at this place, the best chain first."""
        found, count = self.evidence, self.vocabulary.num_relations
        head, _, tail = self.facts[place].tolist()
        chains = []
        for chain in range(int(found.offsets[place]), int(found.offsets[place + 1])):
            middle = int(found.middles[chain])
            stops = [head, tail] if middle == NONE else [head, middle, tail]
            steps = zip(found.steps[chain].tolist(), stops, stops[1:], strict=False)
            facts = tuple(_step(slot, start, end, count) for slot, start, end in steps)
            chains.append(Chain(facts, int(found.support[chain]), int(found.cases[chain])))
        return chains

    def _columns(self) -> tuple[NDArray[Any], ...]:
        """All but the vocabulary and the evidence."""
        return (
            self.facts,
            self.accepted,
            self.probabilities,
            self.scores,
            self.thresholds,
            self.expected,
            self.sides,
        )


def _step(slot: int, start: int, end: int, num_relations: int) -> Fact:
    """The known fact that leads from `start` to `end` along this slot."""
    backwards, relation = divmod(slot, num_relations)
    return (end, relation, start) if backwards else (start, relation, end)


def _kept(values: NDArray[Any]) -> NDArray[Any]:
    return frozen(values, values.dtype.type)
