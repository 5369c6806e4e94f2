"""Which proposal a reviewer sees next, and which ones a filter wants."""

import hashlib
import json
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from assent.core.arrays import Mask
from assent.core.checking import refuse_unknown
from assent.core.new_facts import NewFacts
from assent.reviewing.labels import SKIP
from assent.reviewing.worth import Worth

ORDERS = ("drawn", "probable", "teaches")
LEASE = 120.0  # seconds for which a proposal that one reviewer sees is not given to another
SKIPPED_FOR = 10  # decisions until a skipped proposal that was drawn comes again
PLANTED_EVERY = 15  # about one of so many proposals that a reviewer sees is a planted one


@dataclass(frozen=True)
class Filter:
    """Which proposals are wanted."""

    relation: str | None = None  # by its name in the graph; None: all
    least: float = 0.0  # probability, recalibrated
    most: float = 1.0
    evidence: bool | None = None  # with evidence, without, or both


class Shown(NamedTuple):
    """That a reviewer has a proposal on the screen."""

    when: float
    order: str  # one of ORDERS


class Choosing:
    """Chooses among proposals; what is drawn next is what soonest buys a promise like this."""

    def __init__(self, worth: Worth, precision: float, confidence: float) -> None:
        self.worth, self.proposals, self.labels = worth, worth.proposals, worth.labels
        self.precision, self.confidence = precision, confidence
        self._shown: dict[str, dict[str, Shown]] = {}  # reviewer -> key -> when and why

    def next(
        self, reviewer: str, order: str, wanted: Filter, excluding: Collection[str]
    ) -> str | None:
        """The key of the next proposal for a reviewer; None: all are decided."""
        refuse_unknown(order, ORDERS, "order")
        key = next(self._open(reviewer, order, wanted, excluding), None)
        if key is None:
            return None
        if order == "drawn":  # sorted by probability, a planted fact would stand out
            key = self._planted_next(reviewer, wanted, excluding) or key
        self._shown.setdefault(reviewer, {})[key] = Shown(time.monotonic(), order)
        return key

    def order_of(self, reviewer: str, key: str, told: str) -> str:
        """In which order a proposal was last shown to a reviewer.

        Where that is not known, by the label that the reviewer gave it before; and then it is as
        `told`, unless that is `drawn`: nobody can say so but who drew it.
        """
        refuse_unknown(told, ORDERS, "order")
        if (shown := self._shown.get(reviewer, {}).get(key)) is not None:
            return shown.order
        for row in reversed(self.labels.rows()):
            if (row.proposal, row.reviewer) == (key, reviewer) and row.chosen in ORDERS:
                return row.chosen
        return "probable" if told == "drawn" else told

    def _open(
        self, reviewer: str, order: str, wanted: Filter, excluding: Collection[str]
    ) -> Iterator[str]:
        """Keys of proposals that are still to be decided about, in an order."""
        keys, counting = self.proposals.keys, self.labels.current()
        decided = {
            row.proposal
            for row in counting
            if row.verdict != SKIP and (order != "drawn" or row.drawn)
        }
        mine = [row for row in counting if row.reviewer == reviewer]
        skipped = [row.proposal for row in mine if row.verdict == SKIP]
        again = [
            row.proposal
            for place, row in enumerate(mine)
            if row.verdict == SKIP and row.drawn and len(mine) - place > SKIPPED_FOR
        ]
        closed = decided | self._leased_to_others(reviewer) | set(excluding)
        fits = self._fitting(wanted, self.proposals.facts)
        # A drawn proposal without a label holds up all that were drawn after it: it comes again.
        first = [key for key in again if order == "drawn" and key not in closed]
        closed |= set(skipped)
        places = self._order(order, wanted.relation)
        return chain(first, (keys[i] for i in places if fits[i] and keys[i] not in closed))

    def _order(self, order: str, relation: str | None) -> Iterable[int]:
        """Places of proposals; those drawn: what buys a promise soonest, then all others."""
        if order != "drawn":  # by the probabilities that the page shows
            shown = self.worth.probable(self.proposals.facts)
            first = -shown if order == "probable" else np.abs(shown - 0.5)
            return list(np.argsort(first, kind="stable"))
        audit = self.worth.audit(self.precision, self.confidence, relation)
        rest = (int(place) for place in np.argsort(self.worth.design.numbers, kind="stable"))
        return chain(audit.next().tolist(), rest)

    def _planted_next(
        self, reviewer: str, wanted: Filter, excluding: Collection[str]
    ) -> str | None:
        """A planted fact now and then, each once; when is fixed by the names, not by the labels.

        It fits what the reviewer wants, as the proposals do: else it could be told apart.
        """
        mine = [row for row in self.labels.current() if row.reviewer == reviewer]
        fits = self._fitting(wanted, self.proposals.planted)
        left = {key for key, fit in zip(self.proposals.planted_keys, fits, strict=True) if fit}
        left -= {row.proposal for row in mine} | set(excluding)
        decided = len(mine) + len(excluding)
        turn = hash_of(reviewer, decided // PLANTED_EVERY) % PLANTED_EVERY
        if not left or decided % PLANTED_EVERY != turn:
            return None
        return min(left, key=lambda key: hash_of(reviewer, key))

    def _leased_to_others(self, reviewer: str) -> set[str]:
        old = time.monotonic() - LEASE
        return {
            key
            for other, keys in self._shown.items()
            for key, shown in keys.items()
            if other != reviewer and shown.when > old
        }

    def _fitting(self, wanted: Filter, facts: NewFacts) -> Mask:  # (fact,)
        """Which of the proposals, or of the planted facts, are wanted."""
        probabilities = self.worth.probable(facts)
        fits: Mask = (probabilities >= wanted.least) & (probabilities <= wanted.most)
        if wanted.relation is not None:
            names = self.proposals.facts.vocabulary.relations
            refuse_unknown(wanted.relation, names, "relation")
            relations = facts.vocabulary.relations
            wants = np.array([name == wanted.relation for name in relations], bool)
            fits = fits & wants[facts.facts[:, 1]]
        if wanted.evidence is not None:
            fits = fits & (self._with_evidence[facts is self.proposals.facts] == wanted.evidence)
        return fits

    @cached_property
    def _with_evidence(self) -> dict[bool, Mask]:
        """Whether a rule speaks for each proposal (True: their mask), for each planted (False)."""
        both = {True: self.proposals.facts, False: self.proposals.planted}
        return {
            mine: np.array([not facts.by_similarity(place) for place in range(len(facts))], bool)
            for mine, facts in both.items()
        }

    def batch(self, wanted: Filter) -> list[str]:
        """Proposals of a filter that nobody has decided about: keys, the most probable first."""
        decided = {row.proposal for row in self.labels.current() if row.verdict != SKIP}
        keys, fits = self.proposals.keys, self._fitting(wanted, self.proposals.facts)
        places = self._order("probable", wanted.relation)
        return [keys[i] for i in places if fits[i] and keys[i] not in decided]


def hash_of(*parts: object) -> int:
    """A number that looks random, the same in every process."""
    return int.from_bytes(hashlib.sha256(json.dumps(parts).encode()).digest()[:8], "big")
