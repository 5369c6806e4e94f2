"""`|q - e M|^2`: the squared distance in a space of the query's slot, to which M leads."""

import torch
from torch import Tensor

from assent.geometry.base import Asked, Geometry, Table
from assent.geometry.groups import Rows, groups
from assent.geometry.links import Tanh

KEPT = 8  # slots whose projected entities are kept from `measure` to `spread`


class Projected(Geometry):
    """`weights` (slot, dim, space) holds M; queries (query, space) lie in the space already.

    Slot by slot, the entities are projected once for all its queries, and then meet them in one
    product, [-2 q, 1, q^2] . [e M, (e M)^2, 1] as in `Squared`. So the time of a step grows with
    the number of slots in its batch.
    """

    link = Tanh

    def __init__(self, asked: Asked, table: Table) -> None:
        super().__init__(asked, table)
        assert asked.weights is not None and asked.owners is not None
        self.matrices = asked.weights
        self.groups = list(groups(asked.owners))
        self.kept: dict[int, Tensor] = {}
        q = asked.vectors
        ones = q.new_ones(len(q), 1)
        self.lifted_queries = torch.cat([-2 * q, ones, torch.linalg.vecdot(q, q)[:, None]], 1)

    def _projected(self, slot: int) -> Tensor:  # (slice, space + 2)
        """The entities in the space of a slot, with their squared lengths and a one."""
        if slot in self.kept:
            return self.kept[slot]
        e, matrix = self.table.vectors, self.matrices[slot]
        lifted = e.new_empty(len(e), matrix.shape[1] + 2)
        projected = torch.mm(e, matrix, out=lifted[:, :-2])
        lifted[:, -2] = torch.linalg.vecdot(projected, projected)
        lifted[:, -1] = 1
        if len(self.groups) <= KEPT:
            self.kept[slot] = lifted
        return lifted

    def measure(self, out: Tensor) -> None:
        for slot, rows in self.groups:
            queries, entities = self.lifted_queries[rows], self._projected(slot).T
            if isinstance(rows, slice):
                torch.mm(queries, entities, out=out[rows])
            else:
                out[rows] = queries @ entities

    def measure_pairs(self) -> Tensor:
        raw = self.asked.vectors.new_empty(len(self.asked.vectors))
        for slot, rows in self.groups:
            apart = self._apart(slot, rows)
            raw[rows] = torch.linalg.vecdot(apart, apart)
        return raw

    def spread_pairs(self, slopes: Tensor) -> tuple[Asked, Tensor]:
        pulls = torch.empty_like(self.asked.vectors)
        of_entities = torch.empty_like(self.table.vectors)
        of_matrices = torch.zeros_like(self.matrices)
        for slot, rows in self.groups:
            pull = 2 * slopes[rows, None] * self._apart(slot, rows)
            pulls[rows] = pull
            of_entities[rows] = -pull @ self.matrices[slot].T
            of_matrices[slot].addmm_(self.table.vectors[rows].T, pull, alpha=-1)
        return Asked(pulls, of_matrices), of_entities

    def _apart(self, slot: int, rows: Rows) -> Tensor:  # (row, space)
        """From the entities to the queries of the same rows."""
        return self.asked.vectors[rows] - self.table.vectors[rows] @ self.matrices[slot]

    def spread(self, slopes: Tensor, asked: Asked, table: Table) -> None:
        q, e = self.asked.vectors, self.table.vectors
        table.vectors.zero_()
        for slot, rows in self.groups:
            lifted, slope = self._projected(slot), slopes[rows]
            summed = slope @ lifted  # (query, space + 2)
            asked.vectors[rows] += 2 * (q[rows] * summed[:, -1:] - summed[:, :-2])
            pulls = slope.T @ self.lifted_queries[rows, :-1]  # (slice, space + 1)
            pulls = pulls[:, :-1].addcmul_(lifted[:, :-2], pulls[:, -1:], value=2)
            table.vectors.addmm_(pulls, self.matrices[slot].T)
            if asked.weights is not None:
                asked.weights[slot].addmm_(e.T, pulls)
        self.kept.clear()
