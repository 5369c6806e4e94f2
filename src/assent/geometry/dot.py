"""`q . e + b`: the score is the dot product."""

import torch
from torch import Tensor

from assent.geometry.base import Asked, Geometry, Table
from assent.geometry.links import Logistic


class Dot(Geometry):
    """Three matrix products a step: scores, and the gradients of either side."""

    link = Logistic

    def measure(self, out: Tensor) -> None:
        torch.mm(self.asked.vectors, self.table.vectors.T, out=out)

    def scores(self, out: Tensor | None = None) -> Tensor:  # -> (query, slice)
        """The bias comes with the product, not in a pass of its own."""
        out = self.buffer() if out is None else out
        if self.table.bias is None:
            self.measure(out)
            return out
        return torch.addmm(self.table.bias, self.asked.vectors, self.table.vectors.T, out=out)

    def measure_pairs(self) -> Tensor:
        raw: Tensor = torch.linalg.vecdot(self.asked.vectors, self.table.vectors)
        return raw

    def spread_pairs(self, slopes: Tensor) -> tuple[Asked, Tensor]:
        slopes = slopes[:, None]
        return Asked(slopes * self.table.vectors), slopes * self.asked.vectors

    def spread(self, slopes: Tensor, asked: Asked, table: Table) -> None:
        asked.vectors.addmm_(slopes, self.table.vectors)
        torch.mm(slopes.T, self.asked.vectors, out=table.vectors)
