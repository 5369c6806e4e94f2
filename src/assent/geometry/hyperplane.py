"""`|x|^2 - (w . x)^2`, x = q - e: the squared distance of the projections onto a hyperplane."""

import torch
from torch import Tensor

from assent.geometry.base import Asked, Geometry, Table
from assent.geometry.links import Tanh


class Hyperplane(Geometry):
    """`weights` (query, dim) holds w, the unit normal of each query's hyperplane.

    The distance between the projections of q and e is that of q and e without its part along w.
    The first term is one product, as in `Squared`; the second needs the product of normals and
    entities, in a buffer of its own.
    """

    link = Tanh

    def __init__(self, asked: Asked, table: Table) -> None:
        super().__init__(asked, table)
        q, e = asked.vectors, table.vectors
        assert asked.weights is not None
        self.normals = asked.weights
        self.along = torch.linalg.vecdot(self.normals, q)[:, None]  # (query, 1)
        self.gaps: Tensor | None = None  # (query, slice)  w . q - w . e
        self.lifted_entities = torch.cat(  # (slice, dim + 2)
            [e, torch.linalg.vecdot(e, e)[:, None], e.new_ones(len(e), 1)], 1
        )

    def measure(self, out: Tensor) -> None:
        q = self.asked.vectors
        lengths = torch.linalg.vecdot(q, q)[:, None]
        lifted_queries = torch.cat([-2 * q, torch.ones_like(lengths), lengths], 1)
        torch.mm(lifted_queries, self.lifted_entities.T, out=out)
        gaps = self._gaps()
        out.addcmul_(gaps, gaps, value=-1)

    def _gaps(self) -> Tensor:
        """The same for `measure` and `spread`, which uses it up."""
        if self.gaps is None:
            self.gaps = torch.addmm(self.along, self.normals, self.table.vectors.T, alpha=-1)
        return self.gaps

    def measure_pairs(self) -> Tensor:
        apart = self.asked.vectors - self.table.vectors
        across = torch.linalg.vecdot(self.normals, apart)
        raw: Tensor = torch.linalg.vecdot(apart, apart) - across * across
        return raw

    def spread_pairs(self, slopes: Tensor) -> tuple[Asked, Tensor]:
        apart = self.asked.vectors - self.table.vectors
        across = torch.linalg.vecdot(self.normals, apart)
        twice = 2 * slopes[:, None]
        pulls = twice * (apart - across[:, None] * self.normals)
        return Asked(pulls, -twice * across[:, None] * apart), -pulls

    def spread(self, slopes: Tensor, asked: Asked, table: Table) -> None:
        q, w, e = self.asked.vectors, self.normals, self.table.vectors
        tilted, self.gaps = self._gaps().mul_(slopes), None
        lifted = slopes @ self.lifted_entities
        times_e, total = lifted[:, :-2], lifted[:, -1:]
        lifted = tilted @ self.lifted_entities
        tilted_e, tilted_total = lifted[:, :-2], lifted[:, -1:]
        asked.vectors.add_(q * total - times_e - w * tilted_total, alpha=2)
        if asked.weights is not None:
            asked.weights.add_(tilted_e - q * tilted_total, alpha=2)
        columns = slopes.sum(0)[:, None]
        torch.mm(tilted.T, w, out=table.vectors)
        table.vectors.addmm_(slopes.T, q, alpha=-1).addcmul_(e, columns).mul_(2)
