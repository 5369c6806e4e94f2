"""Scores of whole meetings and of single pairs, as numbers that gradients go through.

The loss over all entities needs no such scores: its gradients are worked out along with it. A
term over few candidates, such as the relations of a graph, is left to autograd.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from assent.geometry.base import Asked, Geometry, Table
from assent.geometry.task import Gradients


def meeting_scores(geometry: type[Geometry], asked: Asked, vectors: Tensor) -> Tensor:
    """The scores (query, row) of queries in front of these vectors (row, dim), without a bias."""
    scores: Tensor = _Meeting.apply(  # type: ignore[no-untyped-call]
        geometry, asked.owners, asked.vectors, asked.weights, vectors
    )
    return scores


def pair_scores(geometry: type[Geometry], asked: Asked, vectors: Tensor) -> Tensor:
    """The score (query,) of each query with the vector in the same row, without a bias."""
    scores: Tensor = _Pairs.apply(  # type: ignore[no-untyped-call]
        geometry, asked.owners, asked.vectors, asked.weights, vectors
    )
    return scores


Slopes = tuple[None, None, Tensor, Tensor | None, Tensor]


class _Meeting(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        geometry: type[Geometry],
        owners: Tensor | None,
        vectors: Tensor,
        weights: Tensor | None,
        others: Tensor,
    ) -> Tensor:
        ctx.met = met = geometry(Asked(vectors, weights, owners), Table(others))
        raw = met.buffer()
        met.measure(raw)
        ctx.steepness = met.link.steepness(raw)
        return met.link.logits_(raw)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slopes: Tensor) -> Slopes:
        met = ctx.met
        gradients = Gradients.of(met.asked, met.table)
        met.spread((slopes * ctx.steepness).contiguous(), gradients.asked, gradients.table)
        return None, None, gradients.asked.vectors, gradients.asked.weights, gradients.table.vectors


class _Pairs(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        geometry: type[Geometry],
        owners: Tensor | None,
        vectors: Tensor,
        weights: Tensor | None,
        others: Tensor,
    ) -> Tensor:
        ctx.met = met = geometry(Asked(vectors, weights, owners), Table(others))
        raw = met.measure_pairs()
        ctx.steepness = met.link.steepness(raw)
        return met.link.logits_(raw)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slopes: Tensor) -> Slopes:
        asked, others = ctx.met.spread_pairs(slopes * ctx.steepness)
        return None, None, asked.vectors, asked.weights, others
