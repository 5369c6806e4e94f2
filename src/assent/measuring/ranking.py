"""Ranks of answers among the candidates of their query."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Keys, Mask, rows_of
from assent.core.queries import Queries
from assent.core.scores import ScoreBlock
from assent.geometry import scans, threads

HITS = (1, 3, 5, 10)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Where each answer stands: how many candidates score higher, how many the same."""

    higher: Keys  # (answer,)
    equal: Keys  # (answer,)  itself counted

    def optimistic(self) -> Floats:
        return (self.higher + 1).astype(np.float64)

    def realistic(self) -> Floats:
        """In the middle of those that score the same."""
        return (self.optimistic() + self.pessimistic()) / 2

    def pessimistic(self) -> Floats:
        return (self.higher + self.equal).astype(np.float64)


class Standings:
    """Ranks among all candidates, and filtered: other true answers do not stand in the way.

    A collector of scores. `truth` holds all that is known to be true, grouped.
    """

    def __init__(self, queries: Queries, truth: Queries, num_entities: int) -> None:
        self.queries = queries
        self._true = truth.answers_to(queries, num_entities)
        count = len(queries.answers)
        self._higher, self._equal = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._true_higher, self._true_equal = np.zeros((2, count), np.int64)

    def add(self, block: ScoreBlock) -> None:
        asked, scores = block.queries, block.scores
        first = int(self.queries.offsets[block.first])
        mine = slice(first, first + len(asked.answers))
        higher, equal = self._higher[mine], self._equal[mine]

        def stand(part: int, parts: int) -> None:
            rows = threads.share(len(asked), part, parts)
            scans.standings(scores, asked.offsets, asked.answers, *rows, higher, equal)

        threads.side_by_side(stand)
        offsets, true = self._true
        offsets = offsets[block.first : block.first + len(asked) + 1]
        of_true = scores[rows_of(offsets), true[offsets[0] : offsets[-1]]]
        scans.standings_among(
            of_true,
            offsets - offsets[0],
            block.of_answers(),
            asked.offsets,
            self._true_higher[mine],
            self._true_equal[mine],
        )

    def ranks(self) -> Ranks:
        """Among all candidates, other answers too."""
        return Ranks(self._higher, self._equal)

    def filtered(self) -> Ranks:
        """Among the candidates that are not known to be true."""
        return Ranks(
            self._higher - self._true_higher, self._equal - np.maximum(self._true_equal, 1) + 1
        )


def highest_mrr(queries: Queries) -> float:
    """The MRR of a perfect ranking: answers to one query stand in each other's way."""
    places = np.arange(len(queries.answers)) - queries.offsets[rows_of(queries.offsets)] + 1
    return mean_reciprocal_rank(places.astype(np.float64))


def mean_reciprocal_rank(ranks: Floats) -> float:
    """nan where there was no answer to rank."""
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
