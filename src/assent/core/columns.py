"""Which entities the columns of a block of scores are, and what other processes have of the rest.

One process has all entities, and there is nothing to be heard from others. Where several processes
share them (`geometry/shared.py`), each counts and picks among its own, and what it found is added
up, gathered and merged by the same calls.
"""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys

FEWEST, MOST = 64, 4096  # entities of a tile
TILES = 4  # of a graph in between: in more parts, a product takes longer
REGISTER = 16  # numbers: a tile has whole registers of them

Candidates = tuple[Ids, Ids, NDArray[np.float32]]  # query, entity, score
Number = TypeVar("Number", bound=np.generic)


def tile_width(num_entities: int) -> int:
    """How many entities, of neighbouring ids, are scored and added up together.

    A tile belongs to one process. So the same sums are rounded in the same way whoever makes them,
    and scores are the same bits for any number of processes.
    """
    wide = -(-num_entities // (TILES * REGISTER)) * REGISTER
    return min(max(wide, FEWEST), MOST)


class Columns:
    """All entities, in the one process that there is.

    Of several processes, all call the same methods in the same order.
    """

    alone = True  # whether there is one process
    first = True  # whether this process speaks for all

    def __init__(self, num_entities: int, count: int | None = None) -> None:
        self.num_entities = num_entities
        self.count = num_entities if count is None else count  # columns of this process
        self.width = tile_width(num_entities)

    def entities(self, columns: Ids) -> Ids:
        """The entities of some of the columns here."""
        return columns

    def own(self, offsets: Keys, ids: Ids) -> tuple[Keys, Ids]:
        """Of a ragged list of entities those that are here, as offsets and columns."""
        return offsets, ids

    def pick(self, scores: NDArray[np.float32], rows: Keys, ids: Ids) -> NDArray[np.float32]:
        """The score of each of these entities in its row, from whichever process has it."""
        return scores[rows, ids]

    def best(self, scores: NDArray[np.float32]) -> tuple[Ids, NDArray[np.float32]]:
        """The highest candidate of each row, and its score; of equal ones, the lowest id."""
        places = scores.argmax(axis=1)
        return places.astype(np.int32), scores[np.arange(len(scores)), places]

    def highest(self, values: NDArray[Number]) -> NDArray[Number]:
        """The highest that any process has, number by number."""
        return values

    def added(self, counts: Keys) -> Keys:
        """What all processes counted, added up."""
        return counts

    def joined(self, candidates: Candidates) -> Candidates:
        """What all processes found, each of its own entities, by query and entity."""
        return candidates

    def any(self, mine: bool) -> bool:
        """Whether any process says so."""
        return mine


def sums_by_tile(
    values: NDArray[np.float32], width: int, others: NDArray[np.float32] | None = None
) -> NDArray[Any]:  # (row, tile)
    """The sum of each row over each tile, or that of the products of two numbers each."""
    count = values.shape[1]
    whole = count // width * width
    sums = [np.zeros((len(values), 0))]
    for first, stop, tiles in ((0, whole, whole // width), (whole, count, 1)):
        if stop > first:
            shape = (len(values), tiles, (stop - first) // tiles)
            mine = values[:, first:stop].reshape(shape)
            if others is None:
                sums.append(mine.sum(axis=2).astype(np.float64))
            else:
                more = others[:, first:stop].reshape(shape)
                sums.append(np.vecdot(mine, more).astype(np.float64))
    return np.concatenate(sums, axis=1)
