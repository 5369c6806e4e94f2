"""Precision, recall and F1 of decisions: by subset, by relation, by query, with intervals."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.core.counts import METRICS, Counts, f1, ratio
from assent.core.queries import SETS, Queries

DRAWS = 1000
CONFIDENCE = 0.95


class Interval(NamedTuple):
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Classified:
    """Queries, and what was decided about each."""

    queries: Queries
    counts: Counts  # of arrays (query,)

    def of(self, name: str) -> Counts:
        """The counts of one of the `SETS` together."""
        return self.counts.take(SETS[name](self.queries)).total()

    def per_query(self, name: str) -> float:
        """Accepted facts a query: how much would be added."""
        chosen = SETS[name](self.queries)
        return float(ratio(self.counts.accepted[chosen].sum(), chosen.sum()))

    def left_empty(self, name: str) -> float:
        """The share of queries that were given no answer; of N and F, rightly so."""
        chosen = SETS[name](self.queries)
        return float(ratio((self.counts.accepted[chosen] == 0).sum(), chosen.sum()))

    def by_relation(self, num_slots: int) -> Counts:  # of arrays (slot,)
        return self.counts.by(self.queries.relations, num_slots)

    def macro(self, num_slots: int) -> dict[str, dict[str, float]]:
        """Metrics averaged over relations and over queries, where they are defined."""
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
    """Bootstrap intervals over queries: set -> metric -> interval."""
    parts = [_within(classified, name) for name in SETS]
    return {
        name: {metric: _interval(of(drawn)) for metric, of in METRICS.items()}
        for name, drawn in zip(SETS, _drawn(parts, draws, seed), strict=True)
    }


class Difference(NamedTuple):
    """How much better the second of two decisions is."""

    f1: float
    interval: Interval

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.interval.low > 0 or self.interval.high < 0


def compared(
    one: Classified, other: Classified, name: str = "full", draws: int = DRAWS, seed: int = 0
) -> Difference:
    """F1 of `other` minus that of `one`, on the same queries, drawn together."""
    pair = [_within(part, name) for part in (one, other)]
    first, second = _drawn(pair, draws, seed)
    gained = f1(pair[1].total()) - f1(pair[0].total())
    return Difference(float(gained), _interval(f1(second) - f1(first)))


def _within(classified: Classified, name: str) -> Counts:  # of arrays (query,)
    """The counts of the queries of a set; those of all others are nothing."""
    inside, counts = SETS[name](classified.queries), classified.counts
    return Counts(counts.correct * inside, counts.accepted * inside, counts.relevant * inside)


def _drawn(counts: list[Counts], draws: int, seed: int) -> list[Counts]:
    """Totals of random samples of queries, the same queries for all of `counts`."""
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
    """Where the middle 95 % of the values lie."""
    values = values[~np.isnan(values)]
    if not len(values):
        return Interval(np.nan, np.nan)
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(low), float(high))


def _mean(values: NDArray[np.float64]) -> float:
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else np.nan
