"""What a completion found, as people and programs take it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from assent.completing.habits import Habits
from assent.completing.running import Completing, Outcome, Stopping
from assent.core.completions import NewFacts
from assent.core.scores import QueriesDone
from assent.core.vocabulary import Vocabulary
from assent.files.completions import named_completions, rows_of_completions


@dataclass(frozen=True, slots=True, eq=False)
class Completion:
    """New facts, accepted and to review; iterating gives one dictionary a fact."""

    vocabulary: Vocabulary
    facts: NewFacts
    outcomes: tuple[Outcome, ...]  # of the relations that were finished
    relations: int  # that were to be completed
    promises: bool  # whether relations accept nothing because they cannot promise a precision

    @property
    def finished(self) -> bool:
        return len(self.outcomes) == self.relations

    @property
    def accepted(self) -> NewFacts:
        return self.facts.take(self.facts.accepted)

    @property
    def review(self) -> NewFacts:
        return self.facts.take(~self.facts.accepted)

    @property
    def table(self) -> pl.DataFrame:
        """One row a fact, by name; evidence as JSON text."""
        return named_completions(self.facts, self.vocabulary)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return rows_of_completions(self.facts, self.vocabulary)

    def __len__(self) -> int:
        return len(self.facts)


def collected(
    work: Completing, names: Vocabulary, promises: bool, progress: QueriesDone, stopping: Stopping
) -> Completion:
    """All relations, or those that were finished before it was stopped."""
    most, parts, outcomes = work.wanted.max_facts, list[NewFacts](), list[Outcome]()
    for outcome, facts in work.run(progress, stopping):
        outcomes.append(outcome)
        parts.append(facts)
        if most is not None and sum(map(len, parts)) > 4 * most:
            # One more than wanted: whether a pair fits in whole shows at the end.
            parts = [surest(NewFacts.joined(parts), most + 1)]
    facts = NewFacts.joined(parts)
    if most is not None:
        facts = surest(facts, most, work.habits)
    return Completion(names, facts, tuple(outcomes), len(work.relations), promises)


def surest(facts: NewFacts, most: int, habits: Habits | None = None) -> NewFacts:
    """The most probable accepted ones, and as many to review, in the order they came in.

    With habits, the two directions of a symmetric relation come together or not at all.
    """
    kept = np.zeros(len(facts), bool)
    heads, relations, tails = facts.facts.T
    low, high = np.minimum(heads, tails), np.maximum(heads, tails)
    falling = np.lexsort((high, low, relations, -facts.probabilities))
    for decision in (True, False):
        order = falling[facts.accepted[falling] == decision]
        first, last = order[:most], order[most : most + 1]
        if habits is not None and len(last) and habits.symmetric[relations[last[0]]]:
            reverse = facts.facts[last[0], ::-1]
            first = first[(facts.facts[first] != reverse).any(axis=1)]
        kept[first] = True
    return facts.take(kept)
