"""The lowest thresholds that promise a precision, with a confidence.

For each relation a few numbers of accepted candidates are tried, fixed by the scores alone: the
fewest that could prove the precision if all were right, then each 1.3 times the one before. Each is
a test of "the precision is lower". The probability of a wrong promise is spread over the tests,
falling, and a test that is passed hands its share on to the next one (the fallback procedure, Wiens
2003): so no relation makes a wrong promise with more than the probability allowed.

A test is the exact binomial one (Clopper & Pearson, 1934), but candidates of one query may be right
or wrong together. So they count as few as if they always were: with one candidate a query the test
is exact, with several it is careful.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from assent.core.arrays import Ids, Keys, Mask
from assent.core.counts import Counts, precision
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import Vocabulary
from assent.deciding.curves import between
from assent.deciding.shortlisting import PER_ANSWER
from assent.errors import ConfigError

GROWTH = 1.3  # of the numbers of accepted candidates that are tried
SPENT = 0.3  # of the probability of failure that is left: the share of the next test

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Promise:
    """A share of accepted facts that are right, and how sure that is to be kept."""

    precision: float = 0.9
    confidence: float = 0.95

    def __post_init__(self) -> None:
        # A threshold of this precision accepts no more than were kept for each answer.
        if not 1 / PER_ANSWER <= self.precision < 1:
            raise ConfigError(
                f"precision {self.precision}; choose from {1 / PER_ANSWER} to less than 1"
            )
        if not 0.5 <= self.confidence < 1:
            raise ConfigError(f"confidence {self.confidence}; choose from 0.5 to less than 1")

    @property
    def name(self) -> str:
        return f"precision={self.precision:g} with confidence {self.confidence:g}"

    @property
    def failure(self) -> float:
        """The probability of a promise that is not kept."""
        return 1 - self.confidence

    @property
    def fewest(self) -> int:
        """So many accepted candidates, of as many queries, prove it if all of them are right."""
        return int(np.ceil(np.log(SPENT * self.failure) / np.log(self.precision)))


class Promised(NamedTuple):
    """Thresholds, and what they come to on valid."""

    promise: Promise
    thresholds: Thresholds
    counts: Counts  # of arrays (slot,)
    asked: Mask  # (slot,)
    pooled: Mask  # (slot,)  too few queries to be tested alone

    def expected_precision(self) -> Values:  # (slot,)
        """On valid; that of a pooled slot is its pool's, nan where nothing can be promised."""
        kept = np.isfinite(self.thresholds.values)
        expected = precision(self.counts)
        expected[self.pooled] = precision(self.counts.take(self.pooled & kept).total())
        return np.where(kept, expected, np.nan)

    def found(self, names: Vocabulary) -> dict[str, Any]:
        """For people to read, by name."""
        kept = np.isfinite(self.thresholds.values)
        total = self.counts.total()
        return {
            "precision": self.promise.precision,
            "confidence": self.promise.confidence,
            "alone": int((kept & ~self.pooled).sum()),
            "pooled": int((kept & self.pooled).sum()),
            "cannot": int((self.asked & ~kept).sum()),
            "unasked": int((~self.asked).sum()),
            "accepted": total.accepted,
            "correct": total.correct,
            "cannot_promise": names.named(np.flatnonzero(self.asked & ~kept)),
        }


def promised(shortlist: Shortlist, promise: Promise) -> Promised:
    """Every relation and direction is tested once: alone, or in a pool if it has few queries.

    Few are those that could prove nothing even if all were right, which says nothing about their
    answers. The promise of the pool is one about all its facts together, with one threshold.
    """
    size = len(shortlist.floors)
    asked = np.bincount(shortlist.queries.relations, minlength=size)
    pooled = (asked > 0) & (asked < promise.fewest)
    floors = np.append(shortlist.floors, shortlist.floors[pooled].max(initial=-np.inf))
    group_of = np.where(pooled, size, np.arange(size))
    groups = group_of[shortlist.relations]
    above = np.flatnonzero(shortlist.scores > floors[groups])
    order = above[np.lexsort((-shortlist.scores[above], groups[above]))]
    ends = np.searchsorted(groups[order], np.arange(size + 2))
    lowest = np.full(size + 1, np.inf)
    for group in np.flatnonzero(np.diff(ends)):
        mine = order[ends[group] : ends[group + 1]]
        scores = shortlist.scores[mine].astype(np.float64)
        count = most_kept(scores, shortlist.right[mine], shortlist.rows[mine], promise)
        if count:
            place, alone = np.array([count - 1]), np.zeros(len(scores), np.int64)
            lowest[group] = between(scores, alone, place, floors[group : group + 1])[0]
    thresholds = Thresholds.of(np.where(asked > 0, lowest[group_of], np.inf))
    counts = shortlist.counts(shortlist.accepted(thresholds))
    counts = counts.by(shortlist.queries.relations, size)
    return Promised(promise, thresholds, counts, asked > 0, pooled)


def most_kept(scores: Values, right: Mask, rows: Ids, promise: Promise) -> int:
    """The most candidates, of falling scores, that may be accepted; 0 if nothing can be promised.

    `rows` are their queries.
    """
    worth = effective(rows)
    counts = tried(scores, worth, promise)
    correct, worth = np.cumsum(right)[counts - 1], worth[counts - 1]
    tails = binomial_tail(worth * correct / counts, worth, promise.precision)
    most, left, level = 0, promise.failure, 0.0
    for count, tail in zip(counts, tails, strict=True):
        level, left = level + SPENT * left, (1 - SPENT) * left
        if tail <= level:
            most = int(count)
        else:
            level = 0.0
    return most


def tried(scores: Values, worth: Values, promise: Promise) -> Keys:
    """The numbers of candidates that are tested; what scores the same is accepted together."""
    ends = np.flatnonzero(np.append(np.diff(scores) != 0, True)) + 1
    enough = ends[worth[ends - 1] >= promise.fewest]
    if not len(enough):
        return enough
    steps = np.log(len(scores) / enough[0]) / np.log(GROWTH)
    sizes = enough[0] * GROWTH ** np.arange(int(steps) + 2)
    return np.unique(ends[np.searchsorted(ends, sizes[sizes <= len(scores)])])


def binomial_tail(correct: ArrayLike, count: ArrayLike, share: float) -> Values:
    """The probability that so many or more of `count` are right if each is with this share.

    Numbers need not be whole: that is the binomial tail as an incomplete beta integral.
    """
    correct, count = np.asarray(correct, np.float64), np.asarray(count, np.float64)
    tail: Values = betainc(np.maximum(correct, 1e-300), count - correct + 1, share)
    return np.where(correct > 0, tail, 1.0)


def effective(rows: Ids) -> Values:
    """How many independent candidates the first 1, 2, 3, ... are worth.

    That is n^2 over the sum of the squares of the numbers that each query has of them (Kish, 1965).
    """
    order = np.argsort(rows, kind="stable")
    first = np.diff(rows[order], prepend=-1) != 0
    places = np.arange(len(rows))
    earlier = np.empty(len(rows))  # candidates of the same query
    earlier[order] = places - np.maximum.accumulate(np.where(first, places, 0))
    worth: Values = (places + 1) ** 2 / np.cumsum(2 * earlier + 1)
    return worth
