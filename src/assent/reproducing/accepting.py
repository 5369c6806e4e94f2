"""What thresholds come to, counted query by query as the scores stream by."""

import numpy as np

from assent.core.arrays import rows_of
from assent.core.counts import Counts
from assent.core.queries import Queries
from assent.core.scores import ScoreBlock
from assent.core.thresholds import Thresholds
from assent.deciding.shortlisting import rounded_down


class Accepting:
    """What thresholds come to, query by query, whatever the number of candidates they accept."""

    def __init__(self, queries: Queries, thresholds: Thresholds) -> None:
        self.queries = queries
        self.floors = rounded_down(thresholds)  # (slot,)
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
