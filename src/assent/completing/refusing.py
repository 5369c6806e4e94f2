"""Refused facts: new ones that contradict the stated schema or each other, with the reason."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assent.completing.law import KEPT, REASONS, Law, Verdicts
from assent.core.arrays import Mask
from assent.core.new_facts import NewFacts
from assent.core.vocabulary import Vocabulary


class Refused(NamedTuple):
    """New facts that contradict the schema, and why."""

    facts: NewFacts
    reasons: Verdicts  # (fact,)

    def counts(self) -> dict[str, int]:
        """How many would have been accepted, by reason; reasons without any are left out."""
        found = np.bincount(self.reasons[self.facts.accepted], minlength=len(REASONS))
        return {reason: int(count) for reason, count in zip(REASONS, found, strict=True) if count}

    def words(self) -> list[str]:
        """Why each fact is refused."""
        return [REASONS[reason] for reason in self.reasons]

    def take(self, rows: Mask) -> "Refused":
        """Those under this mask."""
        return Refused(self.facts.take(rows), self.reasons[rows])

    def of_relation(self, relation: int) -> "Refused":
        """Those of one relation."""
        return self.take(self.facts.facts[:, 1] == relation)

    @classmethod
    def joined(cls, parts: Sequence["Refused"], vocabulary: Vocabulary) -> "Refused":
        """The facts of all parts, one after another."""
        reasons = np.concatenate([np.empty(0, np.int8), *(part.reasons for part in parts)])
        return cls(NewFacts.joined([part.facts for part in parts], vocabulary), reasons)


def lawful(facts: NewFacts, law: Law) -> tuple[NewFacts, Refused]:
    """The facts that contradict neither the schema nor each other, and those that are refused.

    Of facts that contradict each other those stay that are accepted, then the more probable.
    """
    verdicts = law.verdicts(facts.facts, facts.probabilities, facts.accepted)
    kept = verdicts == KEPT
    return facts.take(kept), Refused(facts.take(~kept), verdicts[~kept])


def contradicting(facts: NewFacts, law: Law) -> Refused:
    """The facts that contradict the schema each by itself, whatever the others say."""
    verdicts = law.contradictions(facts.facts)
    return Refused(facts, verdicts).take(verdicts != KEPT)
