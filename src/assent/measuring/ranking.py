"""Ranks of answers among the candidates of their query."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from assent.core.scores import ScoreBlock

ROWS = 256  # answers compared with all candidates at a time


def ranks(blocks: Iterable[ScoreBlock]) -> NDArray[np.float64]:  # (answer,)
    """The rank of each answer among all candidates, as the paper defines it.

    Ties are ranked realistically: in the middle of those that score the same.
    """
    found = [_ranks_in(block) for block in blocks]
    return np.concatenate(found) if found else np.empty(0)


def mean_reciprocal_rank(blocks: Iterable[ScoreBlock]) -> float:
    """nan where there was no answer to rank."""
    of_answers = ranks(blocks)
    return float(np.mean(1 / of_answers)) if len(of_answers) else float("nan")


def _ranks_in(block: ScoreBlock) -> NDArray[np.float64]:
    rows = np.repeat(np.arange(len(block.queries)), block.queries.num_answers)
    scores = block.of_answers()
    result = np.empty(len(rows))
    for first in range(0, len(rows), ROWS):
        part = slice(first, first + ROWS)
        others, mine = block.scores[rows[part]], scores[part, None]
        above = np.count_nonzero(others > mine, axis=1)
        equal = np.count_nonzero(others == mine, axis=1)
        result[part] = above + (equal + 1) / 2
    return result
