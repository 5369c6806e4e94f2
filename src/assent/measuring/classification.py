"""Precision, recall and F1 of decisions: by subset, by relation, by query, with intervals."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Mask
from assent.core.benchmark import Benchmark
from assent.core.counts import METRICS, Counts, f1, ratio
from assent.core.queries import SETS, Queries, Sets
from assent.core.scores import ScoreBlock
from assent.measuring.measure import Decided

DRAWS = 1000  # of a bootstrap
CONFIDENCE = 0.95  # of an interval


class Interval(NamedTuple):
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Classified:
    """Queries, and the counts of what was decided about each."""

    queries: Queries
    counts: Counts  # of arrays (query,)
    sets: Sets = field(default_factory=lambda: SETS)

    def within(self, name: str) -> Mask:  # (query,)
        """Which queries are in one of the sets."""
        return self.sets[name](self.queries)

    def of(self, name: str) -> Counts:
        """The counts of all queries of one of the sets, added up."""
        return self.counts.take(self.within(name)).total()

    def per_query(self, name: str) -> float:
        """How many candidates were accepted for a query, on average."""
        chosen = self.within(name)
        return float(ratio(self.counts.accepted[chosen].sum(), chosen.sum()))

    def left_empty(self, name: str) -> float:
        """The share of queries for which nothing was accepted. For N and F that is right."""
        chosen = self.within(name)
        return float(ratio((self.counts.accepted[chosen] == 0).sum(), chosen.sum()))

    def by_relation(self, num_slots: int) -> Counts:  # of arrays (slot,)
        """The counts of the queries of each slot, added up."""
        return self.counts.by(self.queries.relations, num_slots)

    def macro(self, num_slots: int) -> dict[str, dict[str, float]]:
        """Metrics averaged over slots, and over queries; those that are undefined are left out."""
        return {
            name: {metric: _mean(of(counts)) for metric, of in METRICS.items()}
            for name, counts in (
                ("relation", self.by_relation(num_slots)),
                ("query", self.counts),
            )
        }


def intervals(
    classified: Classified, draws: int = DRAWS, seed: int = 0
) -> dict[str, dict[str, Interval]]:
    """Bootstrap intervals over queries: name of a set -> metric -> interval."""
    parts = [_within(classified, name) for name in classified.sets]
    return {
        name: {metric: _interval(of(drawn)) for metric, of in METRICS.items()}
        for name, drawn in zip(classified.sets, _drawn(parts, draws, seed), strict=True)
    }


class Difference(NamedTuple):
    """How much higher the F1 of the second of two decisions is."""

    f1: float
    interval: Interval

    @property
    def is_clear(self) -> bool:
        """Whether zero lies outside the interval."""
        return self.interval.low > 0 or self.interval.high < 0


def compared(
    one: Classified, other: Classified, name: str = "full", draws: int = DRAWS, seed: int = 0
) -> Difference:
    """F1 of `other` minus that of `one`; the bootstrap draws the same queries for both."""
    pair = [_within(part, name) for part in (one, other)]
    first, second = _drawn(pair, draws, seed)
    gained = f1(pair[1].total()) - f1(pair[0].total())
    return Difference(float(gained), _interval(f1(second) - f1(first)))


@dataclass(frozen=True, eq=False)
class Classification:
    """The result of the measure: counts and metrics of each set of queries, with intervals."""

    classified: Classified
    num_slots: int

    @cached_property
    def intervals(self) -> dict[str, dict[str, Interval]]:
        """Name of a set -> metric -> bootstrap interval over queries."""
        return intervals(self.classified)

    def to_json(self) -> dict[str, Any]:
        return {
            "classification": {name: self._of_set(name) for name in self.classified.sets},
            "macro": self.classified.macro(self.num_slots),
        }

    def lines(self) -> dict[str, float]:
        counts = self.classified.of("full")
        return {metric: float(of(counts)) for metric, of in METRICS.items()}

    def _of_set(self, name: str) -> dict[str, Any]:
        counts = self.classified.of(name)
        return {
            "queries": int(self.classified.within(name).sum()),
            "correct": counts.correct,
            "accepted": counts.accepted,
            "relevant": counts.relevant,
            **{metric: of(counts) for metric, of in METRICS.items()},
            **{f"{metric}_interval": list(span) for metric, span in self.intervals[name].items()},
            "accepted_per_query": self.classified.per_query(name),
            "left_empty": self.classified.left_empty(name),
        }


class Classifying:
    """The measure: it needs no scores, only what was decided."""

    @classmethod
    def of(cls, benchmark: Benchmark, split: str) -> Self:
        return cls()

    def add(self, block: ScoreBlock) -> None:
        """Nothing to collect."""

    def result(self, decided: Decided) -> Classification:
        counts = decided.shortlist.counts(decided.accepted)
        classified = Classified(decided.queries, counts, decided.sets)
        return Classification(classified, decided.vocabulary.num_slots)


def _within(classified: Classified, name: str) -> Counts:  # of arrays (query,)
    """The counts of the queries of a set, and zeros for all other queries."""
    inside, counts = classified.within(name), classified.counts
    return Counts(counts.correct * inside, counts.accepted * inside, counts.relevant * inside)


def _drawn(counts: list[Counts], draws: int, seed: int) -> list[Counts]:
    """Total counts of random samples of the queries, the same samples for all of `counts`.

    Each query is drawn a Poisson number of times, independently of the others. So queries with
    nothing to count can be left out before drawing.
    """
    columns = np.concatenate([[c.correct, c.accepted, c.relevant] for c in counts])
    # A query without any counts adds nothing, however often it is drawn.
    totals = drawn(columns[:, columns.any(axis=0)].astype(np.float64), draws, seed)
    return [Counts(*mine) for mine in totals.reshape(len(counts), 3, draws)]


def drawn(  # (column, draw)
    columns: NDArray[np.float64],  # (column, query)
    draws: int = DRAWS,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Totals of random samples of queries: each query is drawn a Poisson number of times.

    Columns with the same number of queries are drawn from in the same way.
    """
    rng = np.random.default_rng(seed)
    totals = [columns @ rng.poisson(1.0, columns.shape[1]) for _ in range(draws)]
    return np.array(totals).T


def _interval(values: NDArray[np.float64]) -> Interval:
    """Between which values the middle 95 % lie."""
    values = values[~np.isnan(values)]
    if not len(values):
        return Interval(np.nan, np.nan)
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(low), float(high))


def _mean(values: NDArray[np.float64]) -> float:
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else np.nan
