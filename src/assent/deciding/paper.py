"""The paper's own thresholds (Appendix B.1): probabilities from a coarse grid.

For comparison: `rules.py` finds better ones, exactly.
"""

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Keys
from assent.core.counts import Counts, f1
from assent.core.queries import Queries
from assent.core.scores import ScoreBlock
from assent.core.thresholds import Thresholds

# Appendix B.2 has global thresholds of .2 and .4, which the grid of Appendix B.1 lacks.
GLOBAL_GRID = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
GRID = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
START, ROUNDS = 0.5, 2


class Levels:
    """Counts, relation by relation, at every threshold of the grid; a collector of scores."""

    def __init__(self, queries: Queries, num_slots: int) -> None:
        relevant = np.bincount(queries.relations, queries.num_answers, num_slots)
        self.asked: Keys = np.bincount(queries.relations, minlength=num_slots)  # (slot,)
        self.relevant = relevant.astype(np.int64)  # (slot,)
        self.accepted = np.zeros((num_slots, len(GLOBAL_GRID)), np.int64)
        self.correct = np.zeros((num_slots, len(GLOBAL_GRID)), np.int64)

    def add(self, block: ScoreBlock) -> None:
        relations = block.queries.relations
        of_answers = block.of_answers()
        asked = np.repeat(relations, block.queries.num_answers)
        highest = block.scores.max(axis=1, initial=-np.inf)
        accepted = np.zeros_like(self.accepted)
        for place, level in enumerate(logits(GLOBAL_GRID)):
            rows = np.flatnonzero(highest > level)
            passed = np.count_nonzero(block.scores[rows] > level, axis=1)
            np.add.at(accepted[:, place], relations[rows], passed)
            np.add.at(self.correct[:, place], asked[of_answers > level], 1)
        self.accepted += block.columns.added(accepted)

    def counts(self, places: Keys) -> Counts:
        """What these places of the grid, one for each relation, come to together."""
        slots = np.arange(len(places))
        return Counts(
            self.correct[slots, places], self.accepted[slots, places], self.relevant
        ).total()


def paper_global(levels: Levels) -> Thresholds:
    """The best of the grid for all relations; the start where none is better than nothing."""
    size = len(levels.relevant)
    reached = np.nan_to_num(
        [f1(levels.counts(np.full(size, place))) for place in range(len(GLOBAL_GRID))]
    )
    best = int(np.argmax(reached)) if reached.any() else GLOBAL_GRID.index(START)
    return Thresholds.single(logits(GLOBAL_GRID)[best], size)


def paper_relation(levels: Levels) -> Thresholds:
    """The greedy search, word for word: the frequent relations first, two rounds."""
    places = np.full(len(levels.relevant), GLOBAL_GRID.index(START))
    total, best = levels.counts(places), 0.0
    by_frequency = np.argsort(-levels.asked, kind="stable")
    for _ in range(ROUNDS):
        for slot in by_frequency:
            for place in map(GLOBAL_GRID.index, GRID):
                changed = _with(levels, total, slot, places[slot], place)
                if (reached := f1(changed)) > best:
                    best, total, places[slot] = reached, changed, place
    return Thresholds.of(logits(GLOBAL_GRID)[places])


def logits(probabilities: tuple[float, ...]) -> NDArray[np.float64]:
    """The scores that `sigmoid` takes to these."""
    share = np.array(probabilities)
    with np.errstate(divide="ignore"):
        scores: NDArray[np.float64] = np.log(share) - np.log1p(-share)
    return scores


def _with(levels: Levels, total: Counts, slot: int, old: int, new: int) -> Counts:
    """The total, were this relation to change its place on the grid."""
    return Counts(
        total.correct + int(levels.correct[slot, new] - levels.correct[slot, old]),
        total.accepted + int(levels.accepted[slot, new] - levels.accepted[slot, old]),
        total.relevant,
    )
