"""Slow, obvious twins of triple classification and entity-pair ranking: loops over tuples."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

Fact = tuple[Any, Any, Any]


def right_about(threshold: float, facts: Sequence[tuple[float, bool]]) -> int:
    """Of facts (score, is true), how many a threshold calls what they are."""
    return sum((score > threshold) == true for score, true in facts)


def most_right(facts: Sequence[tuple[float, bool]]) -> int:
    """The best that any threshold can do: each score tried, from both of its sides."""
    levels = {score for score, _ in facts if score > float("-inf")}
    tried = [level + shift for level in levels for shift in (-0.25, 0.0, 0.25)]
    return max(right_about(threshold, facts) for threshold in [float("inf"), *tried])


def pairs_in_order(
    scores: Mapping[Fact, float], relation: Any, entities: Iterable[Any], true: set, known: set
) -> list[Fact]:
    """Every candidate pair of a relation, highest first; of those that tie the false ones first."""
    entities = list(entities)
    candidates = [
        (head, relation, tail)
        for head, tail in product(entities, entities)
        if (head, relation, tail) not in known
    ]
    return sorted(candidates, key=lambda fact: (-scores[fact], fact in true))


def true_ranks(order: Sequence[Fact], true: set[Fact], k: int) -> list[int]:
    return [place for place, fact in enumerate(order[:k], start=1) if fact in true]


def average_precision(order: Sequence[Fact], true: set[Fact], k: int) -> float:
    """The precision at each true pair among the first k, over the most there could be."""
    total = 0.0
    for place, fact in enumerate(order[:k], start=1):
        if fact in true:
            total += sum(earlier in true for earlier in order[:place]) / place
    return total / min(k, len(true))


def weighted(values: Mapping[Any, float], true: Mapping[Any, set], k: int) -> float:
    """The mean over relations, each with as many votes as true pairs fit in the first k."""
    votes = [value for r, value in values.items() for _ in range(min(k, len(true[r])))]
    return sum(votes) / len(votes)
