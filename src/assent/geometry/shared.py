"""The entities of one of several processes, as the columns of its blocks of scores."""

import numpy as np
import torch
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, offsets_of, rows_of
from assent.core.columns import Candidates, Columns, Number
from assent.geometry.peers import Peers


class SharedColumns(Columns):
    """Column j is row j of the tables of this process."""

    alone = False

    def __init__(self, num_entities: int, peers: Peers) -> None:
        super().__init__(num_entities, peers.count(num_entities))
        self.peers, self.first = peers, peers.first

    def entities(self, columns: Ids) -> Ids:
        found: Ids = self.peers.ids_of(columns).astype(np.int32)
        return found

    def own(self, offsets: Keys, ids: Ids) -> tuple[Keys, Ids]:
        here = self.peers.mine(ids)
        counts = np.bincount(rows_of(offsets)[here], minlength=len(offsets) - 1)
        return offsets_of(counts), self.peers.rows_of(ids[here])

    def pick(self, scores: NDArray[np.float32], rows: Keys, ids: Ids) -> NDArray[np.float32]:
        here = self.peers.mine(ids)
        found = torch.zeros(len(ids))
        found.numpy()[here] = scores[rows[here], self.peers.rows_of(ids[here])]
        self.peers.sum_(found)  # zero but in the one process that has it
        return found.numpy()

    def best(self, scores: NDArray[np.float32]) -> tuple[Ids, NDArray[np.float32]]:
        places, mine = super().best(scores)
        entities, values = self._all(self.entities(places)), self._all(mine)
        highest = values.max(0)
        ids = np.where(values == highest, entities, self.num_entities)
        return ids.min(0).astype(np.int32), highest

    def highest(self, values: NDArray[Number]) -> NDArray[Number]:
        highest: NDArray[Number] = self._all(values).max(0)
        return highest

    def added(self, counts: Keys) -> Keys:
        total = torch.from_numpy(counts.copy())
        self.peers.sum_(total)
        return total.numpy()

    def joined(self, candidates: Candidates) -> Candidates:
        rows, entities = self._ragged(candidates[0]), self._ragged(candidates[1])
        scores = self._ragged(candidates[2])
        order = np.lexsort((entities, rows))
        return rows[order], entities[order], scores[order]

    def any(self, mine: bool) -> bool:
        return bool(self.added(np.array([mine], np.int64))[0])

    def _all(self, values: NDArray[Number]) -> NDArray[Number]:  # -> (process, ...)
        """What each process has, all of the same shape."""
        found: NDArray[Number] = self.peers.all_parts(torch.from_numpy(values.copy())).numpy()
        return found

    def _ragged(self, column: NDArray[Number]) -> NDArray[Number]:
        """What each process has of a column, of whatever length, one after another."""
        lengths = self._all(np.array([len(column)]))[:, 0]
        padded = np.zeros(int(lengths.max()), column.dtype)
        padded[: len(column)] = column
        parts = zip(self._all(padded), lengths.tolist(), strict=True)
        return np.concatenate([part[:length] for part, length in parts])
