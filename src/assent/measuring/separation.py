"""Histograms of scores: of answers, of non-answers, and the best of queries without an answer."""

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Keys, rows_of
from assent.core.queries import SETS
from assent.core.scores import ScoreBlock

LOWEST, HIGHEST, WIDTH = -14.0, 6.0, 0.5  # of the bins, as logits; the outer ones take the rest
EDGES = np.arange(LOWEST, HIGHEST + WIDTH, WIDTH)
STRIDE = 61  # of the non-answers, which are nearly all, every 61st entity is counted
GROUPS = ("answers", "non-answers", "best of an empty query", "best of a fake query")


class Separation:
    """A collector of scores that counts them in bins.

    Given `floors`, it counts how far each score lies above that of its slot. A slot whose floor is
    infinite is left out. It looks at all entities in one process.
    """

    def __init__(self, floors: NDArray[np.float64] | None = None) -> None:  # (slot,)
        self.floors = floors
        self.counts: dict[str, Keys] = {name: np.zeros(len(EDGES) - 1, np.int64) for name in GROUPS}

    def add(self, block: ScoreBlock) -> None:
        asked = block.queries
        floors = np.zeros(len(asked)) if self.floors is None else self.floors[asked.relations]
        chosen = asked.answers % STRIDE == 0
        with np.errstate(invalid="ignore"):  # -inf from -inf: neither is counted
            of_answers = block.of_answers() - floors[rows_of(asked.offsets)]
            sample = (block.scores[:, ::STRIDE] - floors[:, None]).ravel()
            best = block.scores.max(axis=1, initial=-np.inf) - floors
        sizes = {
            "answers": _binned(of_answers),
            # Answers among the sample are taken out again.
            "non-answers": _binned(sample) - _binned(of_answers[chosen]),
            "best of an empty query": _binned(best[SETS["N"](asked)]),
            "best of a fake query": _binned(best[SETS["F"](asked)]),
        }
        for name, size in sizes.items():
            self.counts[name] += size

    def shares(self) -> dict[str, NDArray[np.float64]]:  # group -> (bin,)
        """The share of each group that lies in each bin; zeros for an empty group."""
        return {name: count / max(count.sum(), 1) for name, count in self.counts.items()}


def _binned(scores: NDArray[np.floating]) -> Keys:  # (bin,)
    scores = scores[np.isfinite(scores)]
    return np.histogram(np.clip(scores, LOWEST, HIGHEST), EDGES)[0]
