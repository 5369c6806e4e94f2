"""Triple classification: is a given fact true or false? (Socher et al., 2013)

A fact is called true if it scores higher than the threshold of its relation. The thresholds are
those that call most facts of valid what they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from assent.core.arrays import Ids, Keys, Mask, frozen
from assent.core.benchmark import SPLITS, Benchmark
from assent.core.counts import METRICS, Counts, Number, ratio
from assent.core.facts import KnowledgeBase, translated
from assent.core.scores import Scores
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import Vocabulary
from assent.measuring.plain import plain


@dataclass(frozen=True, slots=True, eq=False)
class LabelledFacts:
    """Facts that are known to be true or false, and the false ones that were left out."""

    facts: Ids  # (fact, 3)
    true: Mask  # (fact,)
    left_out: Mapping[str, int]  # by reason


@dataclass(frozen=True, slots=True, eq=False)
class ScoredFacts:
    """Labelled facts with their scores."""

    labelled: LabelledFacts
    scores: Scores  # (fact,)

    @property
    def relations(self) -> Ids:  # (fact,)
        return self.labelled.facts[:, 1]

    @property
    def true(self) -> Mask:  # (fact,)
        return self.labelled.true


def labelled(benchmark: Benchmark, split: str, false: KnowledgeBase) -> LabelledFacts:
    """The facts that one split asks for, and the false ones given.

    False facts are left out that the benchmark has no names for, or that it holds to be true.
    """
    true, nameable = benchmark.facts(split), translated(false, benchmark.vocabulary)
    kept = nameable[~benchmark.holds(nameable)]
    left_out = {
        "unknown names": len(false.facts) - len(nameable),
        "known to be true": len(nameable) - len(kept),
    }
    facts = np.concatenate([true, kept])
    return LabelledFacts(frozen(facts), np.arange(len(facts)) < len(true), left_out)


def best_threshold(scores: Scores, true: Mask) -> float:
    """The threshold that calls most of these facts what they are; of equal ones the highest.

    It lies in the middle of two neighbouring scores, or .5 above or below all of them.
    """
    labels = np.where(true, 1, -1)[scores > -np.inf]  # -inf is never accepted
    falling, places = np.unique(-scores[scores > -np.inf].astype(np.float64), return_inverse=True)
    if not len(falling):
        return np.inf
    # Accepting one more true fact is right once more, and one more false fact once less.
    gained = np.append(0, np.cumsum(np.bincount(places, labels)))
    levels = np.concatenate([[-falling[0] + 1], -falling, [-falling[-1] - 1]])
    return float(((levels[:-1] + levels[1:]) / 2)[gained.argmax()])


def best_thresholds(valid: ScoredFacts, num_relations: int) -> Thresholds:  # (relation,)
    """The best for each relation; for relations without facts, the best for all facts together."""
    values = np.full(num_relations, best_threshold(valid.scores, valid.true))
    for relation in np.unique(valid.relations):
        mine = valid.relations == relation
        values[relation] = best_threshold(valid.scores[mine], valid.true[mine])
    return Thresholds.of(values)


@dataclass(frozen=True, slots=True, eq=False)
class TripleClassification:
    """Thresholds found on valid, and the scored facts of valid and test that they decide about."""

    vocabulary: Vocabulary
    thresholds: Thresholds  # (relation,)
    valid: ScoredFacts
    test: ScoredFacts

    @classmethod
    def tuned(cls, vocabulary: Vocabulary, valid: ScoredFacts, test: ScoredFacts) -> Self:
        return cls(vocabulary, best_thresholds(valid, vocabulary.num_relations), valid, test)

    @property
    def left_out(self) -> dict[str, Mapping[str, int]]:
        """Split -> reason -> how many of the false facts given were left out."""
        return {"valid": self.valid.labelled.left_out, "test": self.test.labelled.left_out}

    def by_relation(self, split: str = "test") -> tuple[Counts, Keys]:  # of arrays (relation,)
        """The counts of each relation, and how many facts it has."""
        facts = self.valid if split == "valid" else self.test
        accepted = self.thresholds.accept(facts.scores, facts.relations)
        size = self.vocabulary.num_relations
        counts = Counts(facts.true & accepted, accepted, facts.true).by(facts.relations, size)
        return counts, np.bincount(facts.relations, minlength=size)

    def accuracy(self, split: str = "test") -> float:
        counts, facts = self.by_relation(split)
        return float(accuracy(counts.total(), facts.sum()))

    def to_json(self) -> dict[str, Any]:
        """Plain values; what is undefined is null."""
        relations = {}
        counts, facts = self.by_relation()
        for relation in np.flatnonzero(facts):
            mine = {"threshold": self.thresholds.values[relation]}
            mine |= _measured(counts.take(relation), facts[relation])
            relations[self.vocabulary.relations[relation]] = mine
        splits = {split: self.by_relation(split) for split in SPLITS}
        overall = {
            split: _measured(counts.total(), facts.sum())
            for split, (counts, facts) in splits.items()
        }
        return plain({**overall, "left_out": self.left_out, "relations": relations})


def accuracy(counts: Counts, facts: Number) -> Number:
    """The share of facts that were called what they are: true and accepted, or false and not."""
    return ratio(facts - counts.accepted - counts.relevant + 2 * counts.correct, facts)


def _measured(counts: Counts, facts: Number) -> dict[str, Any]:
    return {
        "facts": facts,
        "correct": counts.correct,
        "accepted": counts.accepted,
        "relevant": counts.relevant,
        "accuracy": accuracy(counts, facts),
        **{metric: of(counts) for metric, of in METRICS.items()},
    }
