"""Collectors of what the report needs: counts query by query, and how scores lie."""

import numpy as np

from assent.core.arrays import Keys, rows_of
from assent.core.counts import Counts
from assent.core.queries import Queries
from assent.core.scores import ScoreBlock
from assent.core.thresholds import Thresholds
from assent.deciding.shortlisting import floors_of
from assent.measuring.classification import SETS

LOWEST, HIGHEST, WIDTH = -14.0, 6.0, 0.5  # of the bins, as logits; the outer ones take the rest
EDGES = np.arange(LOWEST, HIGHEST + WIDTH, WIDTH)
STRIDE = 61  # one of so many entities stands for the non-answers, which are nearly all
GROUPS = ("answers", "non-answers", "best of an empty query", "best of a fake query")


class Tally:
    """What thresholds come to, query by query, whatever the number of candidates they accept."""

    def __init__(self, queries: Queries, thresholds: Thresholds) -> None:
        self.queries = queries
        self.floors = floors_of(thresholds)  # (slot,)
        self.correct, self.accepted = np.zeros((2, len(queries)), np.int64)

    def add(self, block: ScoreBlock) -> None:
        asked, rows = block.queries, rows_of(block.queries.offsets)
        floors = self.floors[asked.relations]
        mine = slice(block.first, block.first + len(asked))
        self.accepted[mine] = np.count_nonzero(block.scores > floors[:, None], axis=1)
        right = block.of_answers() > floors[rows]
        self.correct[mine] = np.bincount(rows[right], minlength=len(asked))

    def counts(self) -> Counts:  # of arrays (query,)
        return Counts(self.correct, self.accepted, self.queries.num_answers)


class Separation:
    """How the scores of answers, of others, and the best of queries without an answer lie."""

    def __init__(self) -> None:
        self.counts: dict[str, Keys] = {name: np.zeros(len(EDGES) - 1, np.int64) for name in GROUPS}

    def add(self, block: ScoreBlock) -> None:
        of_answers = block.of_answers()
        sample = block.scores[:, ::STRIDE].ravel()
        chosen = block.queries.answers % STRIDE == 0
        best = block.scores.max(axis=1, initial=-np.inf)
        sizes = {
            "answers": _binned(of_answers),
            # Answers among the sample are taken out again.
            "non-answers": _binned(sample) - _binned(of_answers[chosen]),
            "best of an empty query": _binned(best[SETS["N"](block.queries)]),
            "best of a fake query": _binned(best[SETS["F"](block.queries)]),
        }
        for name, size in sizes.items():
            self.counts[name] += size


def _binned(scores: np.ndarray) -> Keys:  # (bin,)
    scores = scores[np.isfinite(scores)]
    return np.histogram(np.clip(scores, LOWEST, HIGHEST), EDGES)[0]
