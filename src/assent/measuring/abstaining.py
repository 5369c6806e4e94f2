"""Can the highest score of a query tell whether there is anything to find?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from assent.core.arrays import Ids, Mask
from assent.core.counts import ratio
from assent.core.queries import SETS, Queries
from assent.core.scores import ScoreBlock, Scores
from assent.core.shortlist import Shortlist


class Tops:
    """The best candidate of each query; a collector of scores."""

    def __init__(self, queries: Queries) -> None:
        self.queries = queries
        self.entities: Ids = np.zeros(len(queries), np.int32)
        self.scores: Scores = np.full(len(queries), -np.inf, np.float32)
        self.right: Mask = np.zeros(len(queries), dtype=bool)

    def add(self, block: ScoreBlock) -> None:
        rows = np.arange(len(block.queries))
        best = block.scores.argmax(axis=1)
        mine = slice(block.first, block.first + len(rows))
        self.entities[mine] = best
        self.scores[mine] = block.scores[rows, best]
        is_answer = block.queries.answers == np.repeat(best, block.queries.num_answers)
        asked = np.repeat(rows, block.queries.num_answers)
        self.right[mine] = np.bincount(asked[is_answer], minlength=len(rows)) > 0

    def accepted(self, shortlist: Shortlist, accepted: Mask) -> Mask:  # (query,)
        """Which are accepted, given which of the shortlisted are: all others are not."""
        best = accepted & (shortlist.entities == self.entities[shortlist.rows])
        spoken: Mask = np.bincount(shortlist.rows[best], minlength=len(self.entities)) > 0
        return spoken


@dataclass(frozen=True, slots=True)
class Abstaining:
    """How well highest scores set queries with an answer apart from those with none."""

    auroc: dict[str, float]  # N, F, and both
    average_precision: dict[str, float]
    answer_rate: float  # queries whose best candidate is accepted (Godin et al., 2019)
    top_precision: float  # of these, with a right one


def abstaining(tops: Tops, spoken: Mask) -> Abstaining:
    """`spoken` (query,): whether the best candidate was accepted."""
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
    """The chance that a positive scores higher than a negative; a tie counts one half."""
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
