"""What rules say to candidates: the best few confidences of each kind, their number and sum."""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from assent.core.arrays import Ids
from assent.rules.falling import enter

KINDS = ("anchor", "entity", "slots", "paths", "anchor_ends", "entity_ends")
ANCHOR, ENTITY, SLOTS, PATHS, ANCHOR_ENDS, ENTITY_ENDS = range(len(KINDS))
TURNED = [ENTITY, ANCHOR, SLOTS, PATHS, ENTITY_ENDS, ANCHOR_ENDS]  # asked for from the other end
KEPT = 5  # confidences of a candidate and kind

Confidences = NDArray[np.float32]


class Spoken(NamedTuple):
    """What rules say to candidates: a row each, in the order in which `entities` lists them."""

    rows: Ids  # (any entity,)     its row; -1: none
    entities: Ids  # (row,)
    best: Confidences  # (row, kind, kept)   falling
    number: Ids  # (row, kind)     rules that fire
    total: Confidences  # (row, kind)   the sum of their confidences

    @classmethod
    def room(cls, num_entities: int, num_rows: int) -> "Spoken":
        return cls(
            np.full(num_entities, -1, np.int32),
            np.empty(num_rows, np.int32),
            np.zeros((num_rows, len(KINDS), KEPT), np.float32),
            np.zeros((num_rows, len(KINDS)), np.int32),
            np.zeros((num_rows, len(KINDS)), np.float32),
        )


@njit(nogil=True, cache=True)
def speak(entity, kind, confidence, spoken, count, grow):
    """One more rule for an entity. Returns the number of rows; a new one only if they may grow."""
    row = spoken.rows[entity]
    if row < 0:
        if not grow:
            return count
        row = count
        spoken.rows[entity], spoken.entities[row] = row, entity
        spoken.best[row], spoken.number[row], spoken.total[row] = 0, 0, 0
        count += 1
    enter(spoken.best[row, kind], confidence)
    spoken.number[row, kind] += 1
    spoken.total[row, kind] += confidence
    return count


@njit(nogil=True, cache=True)
def forget(spoken, count):
    """Makes room for the next query."""
    for row in range(count):
        spoken.rows[spoken.entities[row]] = -1
