"""`|q - e|^T W |q - e|`: a quadratic form of absolute differences, W that of the query's slot."""

from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from assent.geometry import passes
from assent.geometry.base import Asked, Geometry, Table
from assent.geometry.groups import Rows, groups
from assent.geometry.links import Tanh

forms: Any = None
if passes.compiled is not None:
    forms = import_module("assent.geometry.forms")


class Absolute(Geometry):
    """`weights` (slot, dim, dim) holds W, symmetric, which no gradient is sent to.

    Absolute values do not expand into products as squares do, so each pair of a query and an
    entity takes dim^2 multiplications. Without the kernel: one query after another.
    """

    link = Tanh

    def __init__(self, asked: Asked, table: Table) -> None:
        super().__init__(asked, table)
        assert asked.weights is not None and asked.owners is not None
        self.metrics = asked.weights
        self.groups = list(groups(asked.owners))

    def measure(self, out: Tensor) -> None:
        q, e = self.asked.vectors, self.table.vectors
        for slot, rows in self.groups:
            part = out[rows]  # a copy, unless the rows stand together
            if _kernel_takes(q, e, out):
                forms.forms(q[rows], e, self.metrics[slot], part)
            else:
                for one, row in zip(q[rows], part, strict=True):
                    apart = (one - e).abs_()
                    torch.linalg.vecdot(apart @ self.metrics[slot], apart, out=row)
            if not isinstance(rows, slice):
                out[rows] = part

    def measure_pairs(self) -> Tensor:
        raw = self.asked.vectors.new_empty(len(self.asked.vectors))
        for slot, rows in self.groups:
            apart = self._apart(rows).abs_()
            raw[rows] = torch.linalg.vecdot(apart @ self.metrics[slot], apart)
        return raw

    def spread_pairs(self, slopes: Tensor) -> tuple[Asked, Tensor]:
        pulls = torch.empty_like(self.asked.vectors)
        for slot, rows in self.groups:
            apart = self._apart(rows)
            pull = (apart.abs() @ self.metrics[slot]).mul_(2 * slopes[rows, None])
            pulls[rows] = pull.mul_(apart.sign_())
        return Asked(pulls), -pulls

    def _apart(self, rows: Rows) -> Tensor:  # (row, dim)
        return self.asked.vectors[rows] - self.table.vectors[rows]

    def spread(self, slopes: Tensor, asked: Asked, table: Table) -> None:
        q, e = self.asked.vectors, self.table.vectors
        table.vectors.zero_()
        for slot, rows in self.groups:
            into, metric = torch.zeros_like(q[rows]), self.metrics[slot]
            if _kernel_takes(q, e, slopes, table.vectors):
                forms.gradients(q[rows], e, metric, slopes[rows], into, table.vectors)
            else:
                for one, slope, pull in zip(q[rows], slopes[rows], into, strict=True):
                    apart = one - e
                    pulls = (apart.abs() @ metric).mul_(apart.sign_()).mul_(2 * slope[:, None])
                    torch.sum(pulls, 0, out=pull)
                    table.vectors.sub_(pulls)
            asked.vectors[rows] += into


def _kernel_takes(*tensors: Tensor) -> bool:
    return forms is not None and all(passes.can_run(tensor) for tensor in tensors)
