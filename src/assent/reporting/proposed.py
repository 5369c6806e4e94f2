"""The facts that a run proposes: how many there are, and the most probable of each relation."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from assent.core.new_facts import DECISIONS, Chain, NewFacts
from assent.core.vocabulary import Vocabulary
from assent.reporting.cells import clipped, percent

EACH = 5  # facts shown of a relation, at most
MOST = 150  # facts shown of all relations together, at most


class Proposed(NamedTuple):
    """The facts of a file under one decision."""

    total: int
    likely: float  # how many of them are right, going by their probabilities
    relations: int
    shown: NewFacts  # the most probable first

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """What the page shows of each fact: words, probability, expected precision, evidence."""
        facts, names = self.shown, self.shown.vocabulary
        for place, fact in enumerate(facts.facts.tolist()):
            expected = float(facts.expected[place])
            yield (
                sentence(fact, names),
                float(facts.probabilities[place]),
                None if np.isnan(expected) else expected,
                [reason(chain, names) for chain in facts.chains(place)],
            )


def proposed(facts: NewFacts) -> dict[str, Proposed]:
    """Decision -> the facts under it."""
    found = {}
    for decision in DECISIONS:
        mine = facts.take(facts.decisions == decision)
        if len(mine):
            found[decision] = Proposed(
                len(mine),
                float(mine.probabilities.sum()),
                len(np.unique(mine.facts[:, 1])),
                _shown(mine),
            )
    return found


def _shown(facts: NewFacts) -> NewFacts:
    """The MOST most probable facts, at most EACH of a relation; of equal ones the earlier."""
    falling = np.argsort(-facts.probabilities, kind="stable")
    relations = facts.facts[falling, 1]
    by_relation = np.argsort(relations, kind="stable")
    starts = np.searchsorted(relations[by_relation], relations[by_relation])
    places = np.empty(len(facts), np.int64)  # (fact,)  of those of the relation: first, second, ...
    places[by_relation] = np.arange(len(facts)) - starts
    return facts.take(falling[places < EACH][:MOST])


def sentence(fact: Sequence[int], names: Vocabulary) -> tuple[str, str, str]:
    """Head, relation and tail as people read them, not too long."""
    head, relation, tail = fact
    words = names.entity(head), names.relation(relation), names.entity(tail)
    return clipped(words[0]), clipped(words[1]), clipped(words[2])


def reason(chain: Chain, names: Vocabulary) -> tuple[str, str]:
    """The known facts of a chain in words, and how often such a chain goes with the relation."""
    facts = ", ".join(" · ".join(sentence(fact, names)) for fact in chain.facts)
    share = f" ({percent(chain.support / chain.cases)})" if chain.cases else ""
    return facts, f"{chain.support:,} of {chain.cases:,} such pairs{share}"
