"""Ranks of answers among the candidates of their query."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Keys, Mask, rows_of
from assent.core.benchmark import Benchmark
from assent.core.queries import Queries
from assent.core.scores import ScoreBlock
from assent.geometry import scans, threads
from assent.measuring.measure import Decided

HITS = (1, 3, 5, 10)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """How many candidates score higher than each answer, and how many the same."""

    higher: Keys  # (answer,)
    equal: Keys  # (answer,)  the answer itself included

    def optimistic(self) -> Floats:
        """The answer comes first of those that score the same."""
        return (self.higher + 1).astype(np.float64)

    def realistic(self) -> Floats:
        """The answer stands in the middle of those that score the same."""
        return (self.optimistic() + self.pessimistic()) / 2

    def pessimistic(self) -> Floats:
        """The answer comes last of those that score the same."""
        return (self.higher + self.equal).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Ranked:
    """The result of the measure."""

    ranks: Ranks  # among all candidates
    filtered: Ranks  # among the candidates that are not known to be true
    asks_for_head: Mask  # (answer,)

    @property
    def mrr(self) -> float:
        return mean_reciprocal_rank(self.filtered.realistic())

    @property
    def unfiltered_mrr(self) -> float:
        return mean_reciprocal_rank(self.ranks.realistic())

    @cached_property
    def by_side(self) -> dict[str, dict[str, dict[str, float]]]:
        """Filtered: side -> ties -> metric, under PyKEEN's names."""
        return ranking(self.filtered, self.asks_for_head)

    def to_json(self) -> dict[str, Any]:
        return {"mrr": self.mrr, "unfiltered_mrr": self.unfiltered_mrr, **self.by_side}

    def lines(self) -> dict[str, float]:
        numbers = self.by_side["both"]["realistic"]
        return {"MRR": self.mrr, **{f"hits at {k}": numbers[f"hits_at_{k}"] for k in HITS}}


class Standings:
    """The measure: ranks answers among all candidates, and among those not known to be true.

    `truth` holds all that is known to be true, grouped by query.
    """

    def __init__(self, queries: Queries, truth: Queries, num_entities: int) -> None:
        self.queries = queries
        self._true = truth.answers_to(queries, num_entities)
        count = len(queries.answers)
        self._higher, self._equal = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._true_higher, self._true_equal = np.zeros((2, count), np.int64)

    @classmethod
    def of(cls, benchmark: Benchmark, split: str) -> Self:
        entities = benchmark.vocabulary.num_entities
        return cls(benchmark.queries(split), benchmark.truth(), entities)

    def add(self, block: ScoreBlock) -> None:
        asked, scores, of_answers = block.queries, block.scores, block.of_answers()
        counts = np.zeros((2, len(of_answers)), np.int64)

        def stand(part: int, parts: int) -> None:
            rows = threads.share(len(asked), part, parts)
            scans.standings(scores, asked.offsets, of_answers, *rows, *counts)

        threads.side_by_side(stand)
        place = int(self.queries.offsets[block.first])
        mine = slice(place, place + len(of_answers))
        self._higher[mine], self._equal[mine] = block.columns.added(counts)
        offsets, true = self._true
        offsets = offsets[block.first : block.first + len(asked) + 1]
        scans.standings_among(
            block.of(offsets - offsets[0], true[offsets[0] : offsets[-1]]),
            offsets - offsets[0],
            of_answers,
            asked.offsets,
            self._true_higher[mine],
            self._true_equal[mine],
        )

    def result(self, decided: Decided) -> Ranked:
        slots = self.queries.relations[rows_of(self.queries.offsets)]
        return Ranked(self.ranks(), self.filtered(), decided.vocabulary.asks_for_head(slots))

    def ranks(self) -> Ranks:
        """Among all candidates, the other answers of the query included."""
        return Ranks(self._higher, self._equal)

    def filtered(self) -> Ranks:
        """Among the candidates that are not known to be true."""
        return Ranks(
            self._higher - self._true_higher, self._equal - np.maximum(self._true_equal, 1) + 1
        )


def highest_mrr(queries: Queries) -> float:
    """The unfiltered MRR of a perfect ranking: the answers of one query take its first ranks."""
    places = np.arange(len(queries.answers)) - queries.offsets[rows_of(queries.offsets)] + 1
    return mean_reciprocal_rank(places.astype(np.float64))


def mean_reciprocal_rank(ranks: Floats) -> float:
    """The mean of 1 / rank; nan where there was no answer to rank."""
    return float(np.mean(1 / ranks)) if len(ranks) else np.nan


def ranking(ranks: Ranks, asks_for_head: Mask) -> dict[str, dict[str, dict[str, float]]]:
    """Side -> ties -> metric, under PyKEEN's names."""
    sides = {
        "head": asks_for_head,
        "tail": ~asks_for_head,
        "both": np.ones(len(asks_for_head), dtype=bool),
    }
    return {
        side: {
            ties: _metrics(values[chosen])
            for ties, values in (
                ("optimistic", ranks.optimistic()),
                ("realistic", ranks.realistic()),
                ("pessimistic", ranks.pessimistic()),
            )
        }
        for side, chosen in sides.items()
    }


def _metrics(ranks: Floats) -> dict[str, float]:
    found = {
        "inverse_harmonic_mean_rank": mean_reciprocal_rank(ranks),
        "arithmetic_mean_rank": float(np.mean(ranks)) if len(ranks) else np.nan,
        "median_rank": float(np.median(ranks)) if len(ranks) else np.nan,
    }
    hits = {f"hits_at_{k}": float(np.mean(ranks <= k)) if len(ranks) else np.nan for k in HITS}
    return found | hits | {"count": float(len(ranks))}
