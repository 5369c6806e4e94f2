"""How well the highest score of a query tells whether the query has an answer."""

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from assent.core.arrays import Ids, Mask
from assent.core.benchmark import Benchmark
from assent.core.counts import ratio
from assent.core.queries import SETS, Queries
from assent.core.scores import ScoreBlock, Scores
from assent.core.shortlist import Shortlist
from assent.measuring.measure import Decided


@dataclass(frozen=True, slots=True)
class Abstaining:
    """How well highest scores set queries with an answer apart from those with none."""

    auroc: dict[str, float]  # against N, F, and both
    average_precision: dict[str, float]  # against the same
    answer_rate: float  # share of queries whose best candidate is accepted (Godin et al., 2019)
    top_precision: float  # share of these queries whose best candidate is right

    def to_json(self) -> dict[str, Any]:
        return {"abstaining": asdict(self)}

    def lines(self) -> dict[str, float]:
        return {
            "AUROC of the highest score": self.auroc["N+F"],
            "answer rate": self.answer_rate,
            "precision of the best candidate": self.top_precision,
        }


class Tops:
    """The measure: keeps the best candidate of each query."""

    def __init__(self, queries: Queries) -> None:
        self.queries = queries
        self.entities: Ids = np.zeros(len(queries), np.int32)
        self.scores: Scores = np.full(len(queries), -np.inf, np.float32)
        self.right: Mask = np.zeros(len(queries), dtype=bool)

    @classmethod
    def of(cls, benchmark: Benchmark, split: str) -> Self:
        return cls(benchmark.queries(split))

    def add(self, block: ScoreBlock) -> None:
        rows = np.arange(len(block.queries))
        best, scores = block.columns.best(block.scores)
        mine = slice(block.first, block.first + len(rows))
        self.entities[mine], self.scores[mine] = best, scores
        is_answer = block.queries.answers == np.repeat(best, block.queries.num_answers)
        asked = np.repeat(rows, block.queries.num_answers)
        self.right[mine] = np.bincount(asked[is_answer], minlength=len(rows)) > 0

    def accepted(self, shortlist: Shortlist, accepted: Mask) -> Mask:  # (query,)
        """Whether the best candidate of each query is accepted; only shortlisted ones can be."""
        best = accepted & (shortlist.entities == self.entities[shortlist.rows])
        spoken: Mask = np.bincount(shortlist.rows[best], minlength=len(self.entities)) > 0
        return spoken

    def result(self, decided: Decided) -> Abstaining:
        return abstaining(self, self.accepted(decided.shortlist, decided.accepted))


def abstaining(tops: Tops, spoken: Mask) -> Abstaining:
    """The result, where `spoken` (query,) says whether the best candidate was accepted."""
    answered = tops.queries.has_answers
    empty = {
        "N": SETS["N"](tops.queries),
        "F": SETS["F"](tops.queries),
        "N+F": ~answered,
    }
    both = {name: answered | without for name, without in empty.items()}
    return Abstaining(
        {name: auroc(tops.scores[rows], answered[rows]) for name, rows in both.items()},
        {name: average_precision(tops.scores[rows], answered[rows]) for name, rows in both.items()},
        float(ratio(spoken.sum(), len(spoken))),
        float(ratio((spoken & tops.right).sum(), spoken.sum())),
    )


def auroc(scores: NDArray[np.floating], positive: Mask) -> float:
    """The probability that a positive scores higher than a negative; a tie counts as .5."""
    positives, negatives = int(positive.sum()), int((~positive).sum())
    ranks = rankdata(scores)[positive].sum() if positives else 0.0
    return float(ratio(ranks - positives * (positives + 1) / 2, positives * negatives))


def average_precision(scores: NDArray[np.floating], positive: Mask) -> float:
    """The mean, over positives, of the precision at their score."""
    order = np.argsort(-scores, kind="stable")
    falling, right = scores[order], positive[order]
    # Compared, not subtracted: -inf, of a query without candidates, ties with -inf.
    last = np.append(falling[1:] != falling[:-1], True)[: len(falling)]  # ties fall together
    correct, taken = np.cumsum(right)[last], np.flatnonzero(last) + 1
    gained = np.diff(correct, prepend=0)
    return float(ratio((gained * correct / taken).sum(), positive.sum()))
