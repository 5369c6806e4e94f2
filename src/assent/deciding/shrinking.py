"""Thresholds that are best together for micro-F1, and drawn to one another where data are few.

Micro-F beta is `w correct / (accepted + beta^2 relevant)` with `w = 1 + beta^2`. For the best
value L of it, each relation's threshold maximises `w correct - L accepted` by itself, so L is
found by turns (Dinkelbach, 1967). A relation with few answers tells little, so it is lent the
curve of all relations, scaled to `shrink` answers.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Keys
from assent.core.counts import Counts, f_beta
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.deciding.curves import Curves

SHRINKS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, np.inf)  # in answers
FOLDS = 5
TURNS = 50  # at most; it takes five or so
GRID = 256  # thresholds of all relations that a relation may be drawn to

Values = NDArray[np.float64]


class Trial(NamedTuple):
    """What a shrinkage comes to on queries that it did not see."""

    shrink: float
    f: float


def cross_validated(shortlist: Shortlist, beta: float, seed: int = 0) -> list[Trial]:
    """F beta of each shrinkage over the folds: a query is judged by thresholds of the others."""
    rng = np.random.default_rng(seed)
    folds = rng.permutation(len(shortlist.queries)) % FOLDS
    totals = {shrink: Counts(0, 0, 0) for shrink in SHRINKS}
    for fold in range(FOLDS):
        inside, outside = shortlist.take(folds == fold), shortlist.take(folds != fold)
        evidence = _Evidence.of(outside, beta)
        for shrink in SHRINKS:
            thresholds = Thresholds.of(np.maximum(evidence.thresholds(shrink), inside.floors))
            totals[shrink] += inside.counts(inside.accepted(thresholds)).total()
    return [Trial(shrink, float(f_beta(total, beta))) for shrink, total in totals.items()]


def shrunk(shortlist: Shortlist, beta: float, shrink: float) -> Values:  # (slot,)
    """The thresholds, with this much shrinkage: 0 is best on these data, inf one for all."""
    return _Evidence.of(shortlist, beta).thresholds(shrink)


@dataclass(frozen=True, slots=True, eq=False)
class _Evidence:
    """All that the thresholds depend on."""

    beta: float
    curves: Curves
    asked: NDArray[np.bool_]  # (slot,)
    grid: Values  # (place,)  falling thresholds that are useful for all relations together
    correct_at: Keys  # (slot, place)  of each relation, at the grid
    accepted_at: Keys  # (slot, place)
    pooled_at_grid: Counts  # (place,)   of all relations
    pooled_at_points: Counts  # (point,)   of all relations, at the curves' own thresholds
    best_of_all: float

    @classmethod
    def of(cls, shortlist: Shortlist, beta: float) -> "_Evidence":
        curves, overall = Curves.by_relation(shortlist), Curves.overall(shortlist)
        size = len(shortlist.floors)
        values = f_beta(overall.counts(), beta)
        best = int(np.argmax(values)) if len(values) else 0
        steps = np.linspace(0, len(values) - 1, min(GRID, len(values))).astype(np.int64)
        places = np.unique(np.append(steps, best)) if len(values) else steps
        # With inf, which accepts nothing: all answers may lie below what is high among all.
        grid = np.append(np.inf, overall.thresholds[places])
        correct = _at_grid(shortlist, shortlist.right, grid, size)
        accepted = _at_grid(shortlist, np.ones(len(shortlist), bool), grid, size)
        relevant = overall.relevant[0]
        return cls(
            beta,
            curves,
            np.bincount(shortlist.queries.relations, minlength=size) > 0,
            grid,
            correct,
            accepted,
            Counts(correct.sum(0), accepted.sum(0), relevant),
            Counts(
                _higher(shortlist.scores[shortlist.right], curves.thresholds),
                _higher(shortlist.scores, curves.thresholds),
                relevant,
            ),
            float(overall.thresholds[best]) if len(values) else np.inf,
        )

    def thresholds(self, shrink: float) -> Values:  # (slot,)
        size = len(self.asked)
        if not np.isfinite(shrink):
            return np.full(size, self.best_of_all)
        level, thresholds = 0.0, np.full(size, np.inf)
        for _ in range(TURNS):
            thresholds, counts = self._best_at(level, shrink)
            reached = float(np.nan_to_num(f_beta(counts, self.beta)))
            if reached <= level:
                break
            level = reached
        return np.where(self.asked, thresholds, self.best_of_all)

    def _best_at(self, level: float, shrink: float) -> tuple[Values, Counts]:
        """Each relation's best threshold where an accepted candidate costs `level`."""
        curves = self.curves
        own = self._gain(curves.counts(), level)
        own += self._lent(self.pooled_at_points, level, shrink)
        at_grid = self._gain(Counts(self.correct_at, self.accepted_at, 0), level)
        at_grid += self._lent(self.pooled_at_grid, level, shrink)
        size = len(self.asked)
        thresholds, best = np.full(size, np.inf), np.zeros(size)  # nothing accepted, no gain
        correct, accepted = np.zeros(size, np.int64), np.zeros(size, np.int64)
        groups, points = curves.best(own)
        places, slots = at_grid.argmax(axis=1), np.arange(size)
        for rows, values, best_at, right, taken in (
            (slots, at_grid[slots, places], self.grid[places],
             self.correct_at[slots, places], self.accepted_at[slots, places]),
            (groups, own[points], curves.thresholds[points],
             curves.correct[points], curves.accepted[points]),
        ):  # fmt: skip
            better = values > best[rows]
            rows = rows[better]
            best[rows], thresholds[rows] = values[better], best_at[better]
            correct[rows], accepted[rows] = right[better], taken[better]
        return thresholds, Counts(correct, accepted, curves.relevant).total()

    def _gain(self, counts: Counts, level: float) -> Values:
        gain: Values = (1 + self.beta**2) * counts.correct - level * counts.accepted
        return gain

    def _lent(self, pooled: Counts, level: float, shrink: float) -> Values:
        """The gain of `shrink` answers that behave as those of all relations do."""
        return shrink * self._gain(pooled, level) / max(int(pooled.relevant), 1)


def _at_grid(shortlist: Shortlist, counted: NDArray[np.bool_], grid: Values, size: int) -> Keys:
    """How many of these candidates of each relation (slot, place) each threshold accepts."""
    scores = shortlist.scores[counted].astype(np.float64)
    # The first place of the falling grid that accepts a score; one past the end: none does.
    places = len(grid) - np.searchsorted(grid[::-1], scores, side="left")
    cells = shortlist.relations[counted].astype(np.int64) * (len(grid) + 1) + places
    counts = np.bincount(cells, minlength=size * (len(grid) + 1)).reshape(size, -1)
    at_grid: Keys = np.cumsum(counts[:, :-1], axis=1)
    return at_grid


def _higher(scores: NDArray[np.float32], thresholds: Values) -> Keys:
    """How many scores each threshold accepts."""
    ascending = np.sort(scores).astype(np.float64)
    higher: Keys = len(scores) - np.searchsorted(ascending, thresholds, side="right")
    return higher
