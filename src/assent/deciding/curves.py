"""Exact counts at every useful threshold, from the shortlisted candidates.

Lowering a threshold past a candidate that is no answer only raises *accepted*, so an optimal
threshold lies just below some answer: between it and the next lower candidate, where no rounding
can flip either. Candidates that score the same fall together.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Keys, Mask, frozen, offsets_of
from assent.core.counts import Counts
from assent.core.scores import Scores
from assent.core.shortlist import Shortlist
from assent.deciding.objectives import Objective
from assent.geometry import scans

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """For each group of queries, what every useful threshold comes to; the highest come first."""

    groups: Keys  # (point,)  ascending
    thresholds: Values  # (point,)  falling within a group
    correct: Keys  # (point,)
    accepted: Keys  # (point,)
    relevant: Keys  # (group,)

    @classmethod
    def by_relation(cls, shortlist: Shortlist) -> Self:
        """A curve for each relation and direction."""
        relations, size = shortlist.queries.relations, len(shortlist.floors)
        relevant = np.bincount(relations, shortlist.queries.num_answers, size).astype(np.int64)
        return cls._of(shortlist, shortlist.relations.astype(np.int64), relevant, shortlist.floors)

    @classmethod
    def overall(cls, shortlist: Shortlist) -> Self:
        """One curve for all queries."""
        asked = shortlist.floors[shortlist.queries.relations]
        floor = asked.max(initial=np.float32(-np.inf))
        relevant = np.array([len(shortlist.queries.answers)])
        groups = np.zeros(len(shortlist), np.int64)
        return cls._of(shortlist, groups, relevant, np.array([floor]))

    @classmethod
    def _of(cls, shortlist: Shortlist, groups: Keys, relevant: Keys, floors: Scores) -> Self:
        above = shortlist.scores > floors[groups]
        groups, scores, right = _falling(
            groups[above], shortlist.scores[above], shortlist.right[above]
        )
        # The last of those that score the same: there the counts of a threshold are complete.
        last = np.ones(len(groups), dtype=bool)
        last[:-1] = (np.diff(groups) != 0) | (np.diff(scores) != 0)
        starts = offsets_of(np.bincount(groups, minlength=len(relevant)))[groups]
        correct = np.append(0, np.cumsum(right))
        places = np.flatnonzero(last)
        found = correct[places + 1] - correct[starts[places]]
        accepted = places + 1 - starts[places]
        first = np.diff(groups[places], prepend=-1) != 0
        gained = np.where(first, found, np.diff(found, prepend=0))
        places, found, accepted = (column[gained > 0] for column in (places, found, accepted))
        return cls(
            frozen(groups[places], np.int64),
            frozen(between(scores.astype(np.float64), groups, places, floors), np.float64),
            frozen(found, np.int64),
            frozen(accepted, np.int64),
            frozen(relevant, np.int64),
        )

    def counts(self) -> Counts:  # of arrays (point,)
        return Counts(self.correct, self.accepted, self.relevant[self.groups])

    def spread(self, most: int) -> Counts:  # of arrays (point,)
        """The counts of at most so many of the points, at even distances, for a drawing.

        Even distances of points are even steps of recall: each is one answer more, or a few.
        """
        size = len(self.groups)
        some = np.linspace(0, max(size - 1, 0), min(most, size)).astype(np.int64)
        return self.counts().take(np.unique(some))

    def best(self, values: Values) -> tuple[Keys, Keys]:
        """The points with the highest of these values (point,) in each group that has points.

        Of equal ones the first, which accepts least. Returns groups and points.
        """
        if not len(values):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        order = np.lexsort((np.arange(len(values)), -values, self.groups))
        first = np.diff(self.groups, prepend=-1) != 0
        return self.groups[first], order[first]


def _falling(groups: Keys, scores: Scores, right: Mask) -> tuple[Keys, Scores, Mask]:
    """By group, then falling score: all three as one number, which numpy sorts fastest."""
    keys = np.empty(len(groups), np.int64)
    scans.order_keys(groups, -scores, keys)
    keys = np.sort((keys << 1) | right)
    ordered = np.empty(len(keys), np.float32)
    scans.scores_in(keys >> 1, ordered)
    return keys >> 33, -ordered, (keys & 1).astype(bool)


def between(scores: Values, groups: Keys, places: Keys, floors: Scores) -> Values:
    """Between each of these scores and the next lower one of its group, or the floor."""
    following = np.minimum(places + 1, max(len(scores) - 1, 0))
    same = (places + 1 < len(scores)) & (groups[following] == groups[places])
    lower = np.where(same, scores[following], floors[groups[places]])
    middle = (scores[places] + lower) / 2
    # Nothing lower: half a unit is far enough for any rounding, and too little for huge scores.
    below = np.minimum(scores[places] - 0.5, np.nextafter(scores[places], -np.inf))
    return np.where(np.isfinite(lower), middle, below)


def best_single(shortlist: Shortlist, objective: Objective) -> float:
    """The one threshold for all slots that is best for the objective; inf where none is any good.

    Of equally good ones, the highest.
    """
    curve = Curves.overall(shortlist)
    values = objective.values(curve.counts())
    if not len(values) or not (best := values.max()) > 0:
        return np.inf
    return float(curve.thresholds[int(np.argmax(values == best))])
