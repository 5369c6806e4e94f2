"""New facts: what was decided about each, how probable it is, what speaks for it and against it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assent.core.arrays import Ids, Keys, Mask, frozen, offsets_of, places_in
from assent.core.scores import Scores
from assent.core.showing import brief
from assent.core.vocabulary import SIDES, Vocabulary
from assent.errors import DataError

TAIL, HEAD = 1, 2  # which end was asked for; TAIL | HEAD: both
ASKED = {TAIL: SIDES[0], HEAD: SIDES[1], TAIL | HEAD: "both"}
# What is said of a fact: it was guessed, and is sure enough; it was guessed, and a person should
# look at it; nobody guessed it, for the stated schema entails it from known facts.
ACCEPTED, REVIEW, ENTAILED = DECISIONS = ("accepted", "review", "entailed")

# What may speak for a fact: the schema, where it entails the fact from known ones; a rule about
# those who share a known fact with its head, or with its tail; about those who have a relation with
# anyone at all; about pairs that known facts join in the same way. Where no rule speaks: known
# facts that are like it.
RULES = ("head", "tail", "any", "path")
SIMILAR = "similar"
STATED = "stated"
FOR = (STATED, *RULES, SIMILAR)
# What may speak against it: an end that has its one answer already; a known fact between the two
# that never goes with the relation; another answer that rules speak for more.
AGAINST = ("answered", "never", "rival")

Values = NDArray[np.float64]


class Reason(NamedTuple):
    """One thing that speaks for a fact, or against it."""

    kind: str  # of FOR or of AGAINST
    confidence: float  # support / (cases + a prior); nan where nothing was counted
    support: int  # of the cases, those that bear the reason out
    cases: int
    sentence: str  # the reason in words, with names and numbers


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The reasons for and against each of a list of facts, those of one fact together.

    Reasons for a fact come first, the surest before the others, then those against it.
    """

    offsets: Keys  # (fact + 1,)  reasons of fact f: offsets[f] to offsets[f + 1]
    reasons: tuple[Reason, ...]  # (reason,)

    __repr__ = brief

    def __post_init__(self) -> None:
        if len(self.reasons) != int(self.offsets[-1]):
            raise DataError("evidence: offsets do not match the reasons")

    @classmethod
    def nothing(cls, num_facts: int) -> Self:
        """No reasons, for this number of facts."""
        return cls(frozen(np.zeros(num_facts + 1), np.int64), ())

    @classmethod
    def of(cls, reasons: Sequence[Sequence[Reason]]) -> Self:
        """From the reasons of each fact."""
        offsets = frozen(offsets_of([len(mine) for mine in reasons]), np.int64)
        return cls(offsets, tuple(reason for mine in reasons for reason in mine))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The evidence of all parts, one after another."""
        counts = np.concatenate([np.diff(part.offsets) for part in parts])
        reasons = tuple(reason for part in parts for reason in part.reasons)
        return cls(frozen(offsets_of(counts), np.int64), reasons)

    def take(self, facts: Keys) -> Self:
        """The evidence of the facts at these places."""
        places = places_in(self.offsets, facts).tolist()
        offsets = frozen(offsets_of(np.diff(self.offsets)[facts]), np.int64)
        return type(self)(offsets, tuple(self.reasons[place] for place in places))

    def speaking(self, place: int) -> tuple[Reason, ...]:
        """What speaks for the fact at this place, the surest first."""
        return tuple(reason for reason in self.at(place) if reason.kind in FOR)

    def opposing(self, place: int) -> tuple[Reason, ...]:
        """What speaks against the fact at this place."""
        return tuple(reason for reason in self.at(place) if reason.kind in AGAINST)

    def at(self, place: int) -> tuple[Reason, ...]:
        """All reasons of the fact at this place."""
        return self.reasons[int(self.offsets[place]) : int(self.offsets[place + 1])]


@dataclass(frozen=True, slots=True, eq=False)
class NewFacts:
    """Facts that the graph does not have, each once: accepted, or for a person to review."""

    vocabulary: Vocabulary
    facts: Ids  # (fact, 3)
    accepted: Mask  # (fact,)      as guesses, or because they are entailed
    probabilities: Values  # (fact,)
    scores: Scores  # (fact,)
    thresholds: Values  # (fact,)  a fact is accepted if its score is higher; inf: none is
    expected: Values  # (fact,)    precision expected of the accepted facts like it; nan: not known
    sides: Ids  # (fact,)          TAIL, HEAD or both: the queries that led to the decision
    evidence: Evidence

    def __repr__(self) -> str:
        return f"NewFacts({int(self.accepted.sum()):,} accepted of {len(self.facts):,})"

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
        """The one of DECISIONS that was made about each fact."""
        return np.where(self.accepted, np.where(self.entailed, ENTAILED, ACCEPTED), REVIEW)

    def take(self, rows: ArrayLike) -> Self:
        """The facts at these places, or under this mask."""
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
        made: list[Any] = [_kept(column[rows]) for column in self._columns()]
        return type(self)(self.vocabulary, *[*made, self.evidence.take(rows)])

    def reasons(self, place: int) -> list[Reason]:
        """What speaks for the fact at this place, the surest first."""
        return list(self.evidence.speaking(place))

    def against(self, place: int) -> list[Reason]:
        """What speaks against the fact at this place."""
        return list(self.evidence.opposing(place))

    def by_similarity(self, place: int) -> bool:
        """Whether no rule speaks for the fact at this place."""
        return not any(reason.kind in (STATED, *RULES) for reason in self.evidence.at(place))

    @property
    def entailed(self) -> Mask:  # (fact,)
        """Which facts nobody guessed: the stated schema entails them from known facts."""
        entailed = np.zeros(len(self), bool)
        stated = [place for place, one in enumerate(self.evidence.reasons) if one.kind == STATED]
        entailed[np.searchsorted(self.evidence.offsets, stated, side="right") - 1] = True
        return frozen(entailed & self.accepted, np.bool_)

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


def _kept(values: NDArray[Any]) -> NDArray[Any]:
    return frozen(values, values.dtype.type)
