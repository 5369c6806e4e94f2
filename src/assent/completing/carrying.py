"""Scores of a final fit, carried to the scale of the fit that was rehearsed.

A rehearsal tells how probable a candidate of some score is, of a model that has not seen the
held-out facts. A final model has seen them all, so that nothing is left to rehearse with, and its
scores have another scale. But the order that it puts candidates in is no worse. So a score of its
counts as much as the score of the same rank did in the rehearsal, among the candidates of its
relation and kind. What rules say is a share of counted cases, which has one scale. Where the final
model knows more facts, because entities are back that had been removed, as many more are missing,
and ranks are stretched by that ratio.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from assent.completing.rehearsing import Candidates, Known
from assent.core.arrays import frozen

LOWEST = -1e3  # the score of a candidate where nothing like it was rehearsed: it is not probable

Values = NDArray[np.float64]


class Scale:
    """What score of the rehearsed model each score of the final model stands for."""

    def __init__(
        self, final: Candidates, known: Known, before: Candidates, known_before: Known
    ) -> None:
        """`final` are the final model's candidates, `before` the new ones of the rehearsal.

        Those that were held out in the rehearsal are not among them: the final model knows them.
        """
        self.steps: dict[tuple[int, bool], tuple[Values, Values]] = {}
        for kind, now, then in (
            (False, known.alone, known_before.alone),
            (True, known.joined, known_before.joined),
        ):
            ratios = np.maximum(now, 1) / np.maximum(then, 1)  # (relation,)
            mine, theirs = final.take(final.joined == kind), before.take(before.joined == kind)
            for relation in np.unique(mine.relations).tolist():
                scores = np.sort(mine.scores[mine.relations == relation])
                old = theirs.scores[theirs.relations == relation]
                if len(old):
                    ratio = float(ratios[relation])
                    self.steps[relation, kind] = scores, by_rank(scores, old, ratio)

    def of(self, candidates: Candidates) -> Candidates:
        """The same candidates with scores on the scale of the rehearsed model."""
        scores = np.full(len(candidates), LOWEST)
        for (relation, kind), (here, there) in self.steps.items():
            rows = (candidates.relations == relation) & (candidates.joined == kind)
            scores[rows] = np.interp(candidates.scores[rows], here, there)
        return replace(candidates, scores=frozen(scores, np.float64))


def by_rank(scores: Values, old: Values, ratio: float) -> Values:
    """For each score the one of the same rank among the `old`, if these were `ratio` times as many.

    Ranks go from the highest on, equal scores share their mean rank, and between two ranks the
    scores lie on a line. Below the lowest of the old ones there is only the lowest.
    """
    ranks = (rankdata(-scores) - 0.5) / ratio
    falling = -np.sort(-np.asarray(old, np.float64))
    carried: Values = np.interp(ranks, np.arange(len(falling)) + 0.5, falling)
    return carried
