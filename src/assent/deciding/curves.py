"""The best threshold for all relations, exactly, from one pass over a stream of scores.

F1 = 2 correct / (accepted + relevant). Lowering a threshold past a candidate that is no answer
only raises *accepted*, so an optimal threshold lies just below some answer. And one that accepts
more than `2 relevant / f1` candidates cannot reach `f1`: so only the highest candidates, a number
in proportion to the answers, can matter. They are kept; the rest is forgotten as it streams by.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.core.scores import ScoreBlock

LOWEST_F1 = 0.02  # an F1 below this is of no use, and given only roughly

Floats = NDArray[np.float32]


class Best(NamedTuple):
    """A threshold and the F1 that it gives."""

    threshold: float
    f1: float


def best_global(blocks: Iterable[ScoreBlock], relevant: int) -> Best:
    """The single threshold with the highest micro-F1; `relevant` is the number of answers."""
    answers, highest = _highest(blocks, int(2 * relevant / LOWEST_F1) + 1)
    answers = np.sort(answers[np.isfinite(answers)])
    useful = np.unique(answers)
    if not len(useful):
        return Best(np.inf, 0.0)
    # Ties fall together: a threshold just below an answer accepts all that score the same.
    correct = len(answers) - np.searchsorted(answers, useful)
    accepted = len(highest) - np.searchsorted(highest, useful)
    f1 = 2 * correct / (np.maximum(accepted, correct) + relevant)
    best = int(np.argmax(f1))
    return Best(_just_below(useful[best], highest), float(f1[best]))


def _highest(blocks: Iterable[ScoreBlock], most: int) -> tuple[Floats, Floats]:
    """The scores of the answers, and the `most` highest of all candidates, ascending."""
    answers, kept = [], np.empty(0, np.float32)
    cut = np.float32(-np.inf)
    for block in blocks:
        answers.append(block.of_answers())
        kept = np.concatenate([kept, block.scores[block.scores > cut]])
        if len(kept) > 2 * most:
            kept = np.partition(kept, len(kept) - most)[len(kept) - most :]
            cut = kept.min()
    kept = np.sort(kept)[-most:]
    return np.concatenate(answers) if answers else np.empty(0, np.float32), kept


def _just_below(score: np.float32, ascending: Floats) -> float:
    """Between this score and the next lower one, where no rounding can flip either."""
    place = int(np.searchsorted(ascending, score))
    if place == 0:
        return float(np.nextafter(score, np.float32(-np.inf)))
    return (float(score) + float(ascending[place - 1])) / 2
