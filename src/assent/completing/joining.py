"""Candidates of both sides of one relation -> facts, each once.

A fact is asked for twice: its tail of its head, and its head of its tail. It is accepted if
either question accepts it, and else reviewed if either would have it reviewed. It carries the
numbers of the question that decided so, of two the one with the higher probability.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from assent.completing.lines import Lines, Numbers
from assent.core.arrays import Ids, Keys, Mask, found_in, frozen
from assent.core.completions import HEAD, TAIL, Evidence, NewFacts
from assent.core.scores import Scores
from assent.core.shortlist import Shortlist


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Of one relation; a fact may stand here several times, found by different questions."""

    heads: Ids  # (candidate,)
    tails: Ids  # (candidate,)
    sides: Ids  # (candidate,)  TAIL or HEAD: what was asked for
    slots: Ids  # (candidate,)  the question's relation or inverse relation
    scores: Scores  # (candidate,)
    chances: Numbers  # (candidate,)
    accepted: Mask  # (candidate,)

    @classmethod
    def of(cls, shortlist: Shortlist, lines: Lines) -> Self:
        """All of a shortlist that are to be accepted or reviewed."""
        slots = shortlist.relations
        anchors, entities = shortlist.queries.anchors[shortlist.rows], shortlist.entities
        decider = lines.decider
        asks_tail = slots < len(decider.expected_precision) // 2
        scores = decider.rescore(shortlist)
        chances = decider.probability(scores, slots)
        accepted = decider.thresholds.accept(scores, slots)
        found = cls(
            np.where(asks_tail, anchors, entities),
            np.where(asks_tail, entities, anchors),
            np.where(asks_tail, TAIL, HEAD).astype(np.int32),
            slots,
            scores,
            chances,
            accepted,
        )
        return found.take(accepted | (chances >= lines.review_above))

    def take(self, mask: Mask) -> Self:
        return type(self)(*(column[mask] for column in self._columns()))

    def mirrored(self, known: Keys, num_entities: int) -> Self:
        """As well as their reverses, which say the same, but for the `known` (pair,) ones.

        Asking for the tail of one is asking for the head of the other.
        """
        heads, tails, sides, *rest = self._columns()
        other = type(self)(tails, heads, TAIL + HEAD - sides, *rest)
        other = other.take(~found_in(known, other.pairs(num_entities)))
        columns = zip(self._columns(), other._columns(), strict=True)
        return type(self)(*(np.concatenate(pair) for pair in columns))

    def pairs(self, num_entities: int) -> Keys:  # (candidate,)
        """One number for each head and tail."""
        return self.heads.astype(np.int64) * num_entities + self.tails

    def facts(self, relation: int, num_entities: int, lines: Lines) -> NewFacts:
        """Each fact once, ascending by head and tail."""
        pairs = self.pairs(num_entities)
        order = np.lexsort((self.sides, -self.chances, ~self.accepted, pairs))
        starts = np.flatnonzero(np.diff(pairs[order], prepend=-1))
        best = order[starts]
        decided = np.repeat(self.accepted[best], np.diff(np.append(starts, len(order))))
        sides = np.where(self.accepted[order] == decided, self.sides[order], 0)
        heads, tails = self.heads[best], self.tails[best]
        return NewFacts(
            frozen(np.stack([heads, np.full_like(heads, relation), tails], axis=1)),
            frozen(self.accepted[best], np.bool_),
            frozen(self.chances[best], np.float64),
            frozen(self.scores[best], np.float32),
            frozen(lines.decider.thresholds.values[self.slots[best]], np.float64),
            frozen(lines.decider.expected_precision[self.slots[best]], np.float64),
            frozen(np.bitwise_or.reduceat(sides, starts) if len(starts) else []),
            Evidence.nothing(len(best)),
        )

    def _columns(self) -> tuple[NDArray[Any], ...]:
        return (
            self.heads,
            self.tails,
            self.sides,
            self.slots,
            self.scores,
            self.chances,
            self.accepted,
        )
