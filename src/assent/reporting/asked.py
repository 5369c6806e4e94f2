"""What a model says to a few queries: its best candidates, known ones too."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assent.core.arrays import Ids, Mask
from assent.core.benchmark import Benchmark
from assent.core.queries import Queries, Subset
from assent.core.scores import Scorer, Scores
from assent.scoring import score

SHOWN = 10  # candidates of a query


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A query, and the entities that score highest; nothing is masked."""

    row: int  # the place of the query in its half of the benchmark
    falling: Scores  # (entity,)   the scores of all, the highest first
    best: Ids  # (shown,)
    answers: Mask  # (shown,)  which of these answer the query
    known: Mask  # (shown,)    and which are no candidates, because they are known

    def above(self, threshold: float) -> int:
        """How many of all entities score higher, known ones too."""
        return int(np.count_nonzero(self.falling.astype(np.float64) > threshold))


def asked(
    scorer: Scorer, benchmark: Benchmark, rows: ArrayLike, split: str = "test"
) -> Iterator[Asked]:
    """The queries at these places of a half, put to a model."""
    places = np.asarray(rows, np.int64)
    queries = benchmark.queries(split).take(places)
    offsets, known = benchmark.known(split).answers_to(queries, scorer.num_entities)
    nothing = Queries.empty([], [], Subset.COMPLETE)
    for block in score(scorer, queries, nothing):
        for place, scores in enumerate(block.scores, block.first):
            order = np.argsort(-scores, kind="stable")
            best = order[:SHOWN].astype(np.int32)
            answers = queries.answers[queries.offsets[place] : queries.offsets[place + 1]]
            yield Asked(
                int(places[place]),
                scores[order],
                best,
                np.isin(best, answers),
                np.isin(best, known[offsets[place] : offsets[place + 1]]),
            )
