"""RESCAL (Nickel et al., 2011)."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from assent.geometry.threads import one_thread
from assent.models.embedding import DotModel, DotSettings


class RESCAL(DotModel, name="rescal"):
    """anchor^T M_r entity, with a full matrix a relation."""

    def __init__(self, num_entities: int, num_relations: int, settings: DotSettings) -> None:
        super().__init__(num_entities, num_relations, settings)
        dim = settings.dim
        self.relations: nn.Parameter = self.drawn(self.num_slots, dim, dim)  # (slot, dim, dim)

    def encode(self, anchors: Tensor, relations: Tensor) -> Tensor:
        return turned(anchors, self.relations, relations)


def turned(vectors: Tensor, matrices: Tensor, relations: Tensor) -> Tensor:
    """Each vector (query, dim) times the matrix (relation, dim, dim) of its relation."""
    rows: Tensor = _Turned.apply(vectors, matrices, relations)  # type: ignore[no-untyped-call]
    return rows


class _Turned(torch.autograd.Function):
    """Relation by relation.

    Gathering a matrix a query would cost a (query, dim, dim) tensor, and again for its gradient.
    """

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, matrices: Tensor, relations: Tensor) -> Tensor:
        relations, order = relations.sort()
        present, counts = torch.unique_consecutive(relations, return_counts=True)
        ctx.present, ctx.counts = present.tolist(), counts.tolist()
        vectors = vectors[order]
        ctx.save_for_backward(vectors, matrices, order)
        rows = vectors.new_empty(len(vectors), matrices.shape[2])
        groups = (torch.split(x, ctx.counts) for x in (vectors, rows))
        with one_thread():
            for relation, group, out in zip(ctx.present, *groups, strict=True):
                torch.mm(group, matrices[relation], out=out)
        return _sorted_back(rows, order)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slopes: Tensor) -> tuple[Tensor, Tensor, None]:
        vectors, matrices, order = ctx.saved_tensors
        slopes = slopes[order]
        grad_vectors, grad_matrices = torch.empty_like(vectors), torch.zeros_like(matrices)
        groups = (torch.split(x, ctx.counts) for x in (vectors, slopes, grad_vectors))
        with one_thread():
            for relation, group, slope, out in zip(ctx.present, *groups, strict=True):
                torch.mm(slope, matrices[relation].T, out=out)
                torch.mm(group.T, slope, out=grad_matrices[relation])
        return _sorted_back(grad_vectors, order), grad_matrices, None


def _sorted_back(rows: Tensor, order: Tensor) -> Tensor:
    back = torch.empty_like(rows)
    back[order] = rows
    return back
