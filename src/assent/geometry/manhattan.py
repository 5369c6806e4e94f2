"""`sum_d |q_d - e_d|`: the L1 distance, by a compiled kernel where it can run."""

from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from assent.geometry import passes
from assent.geometry.base import Asked, Geometry, Table
from assent.geometry.links import Tanh

kernels: Any = None
if passes.compiled is not None:
    kernels = import_module("assent.geometry.kernels")


class Manhattan(Geometry):
    """Without the kernel: `torch.cdist`, and for the gradients one dimension after another."""

    link = Tanh

    def measure(self, out: Tensor) -> None:
        q, e = self.asked.vectors, self.table.vectors
        if _kernel_takes(q, e, out):
            kernels.distances(q, e, out)
        else:
            out.copy_(torch.cdist(q, e, p=1))

    def measure_pairs(self) -> Tensor:
        return (self.asked.vectors - self.table.vectors).abs().sum(1)

    def spread_pairs(self, slopes: Tensor) -> tuple[Asked, Tensor]:
        pulls = (self.asked.vectors - self.table.vectors).sign_().mul_(slopes[:, None])
        return Asked(pulls), -pulls

    def spread(self, slopes: Tensor, asked: Asked, table: Table) -> None:
        q, e = self.asked.vectors, self.table.vectors
        if _kernel_takes(q, e, slopes, asked.vectors, table.vectors):
            kernels.gradients(q, e, slopes, asked.vectors, table.vectors)
            return
        pulls = torch.empty_like(slopes)  # (query, slice), of one dimension
        for dim in range(q.shape[1]):
            torch.sub(q[:, dim, None], e[:, dim], out=pulls)
            pulls.sign_().mul_(slopes)
            asked.vectors[:, dim] += pulls.sum(1)
            table.vectors[:, dim] = pulls.sum(0).neg_()


def _kernel_takes(*tensors: Tensor) -> bool:
    return kernels is not None and all(passes.can_run(tensor) for tensor in tensors)
