"""TransE (Bordes et al., 2013) with the tanh layer of the paper."""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from assent.geometry import Asked, Manhattan, Squared
from assent.models.base import ModelSettings
from assent.models.embedding import Embedding


@dataclass(frozen=True, slots=True)
class TranslationSettings(ModelSettings):
    """For models that go from the anchor by the relation's vector."""

    normalize: bool = True  # entities lie on the unit sphere (L2), as in the original
    reciprocal: bool = True  # the inverse of a relation has parameters of its own


@dataclass(frozen=True, slots=True)
class TransESettings(TranslationSettings):
    norm: Literal[1, 2] = 1  # of the distance: 1: L1; 2: L2, squared


class Translation(Embedding):
    """anchor + relation; without reciprocal relations, anchor - relation for the head."""

    Settings = TranslationSettings
    settings: TranslationSettings

    def __init__(
        self, num_entities: int, num_relations: int, settings: TranslationSettings
    ) -> None:
        super().__init__(num_entities, num_relations, settings)
        self.slots = self.num_slots if settings.reciprocal else num_relations
        self.relations = self.drawn(self.slots, settings.dim)  # (slot, dim)

    def encode(self, anchors: Tensor, relations: Tensor) -> Tensor:
        moves = functional.embedding(relations % self.slots, self.relations)
        return torch.where((relations < self.slots)[:, None], moves, -moves) + anchors

    def turned_round(
        self, anchors: Tensor, entities: Tensor, slots: Tensor
    ) -> tuple[Asked, Tensor] | None:
        """anchor + relation - entity is relation - (entity - anchor)."""
        anchors = self.dropped(anchors, self.settings.anchor_dropout)
        moves = self.encode(anchors.new_zeros(len(slots), anchors.shape[1]), slots)
        return Asked(moves, self.weights(slots), self.owners(slots)), entities - anchors

    def placed(self, vectors: Tensor) -> Tensor:
        if not self.settings.normalize:
            return vectors
        normalised: Tensor = _Normalised.apply(vectors)  # type: ignore[no-untyped-call]
        return normalised


class _Normalised(torch.autograd.Function):
    """`functional.normalize` with a gradient in three passes: the table is large."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor) -> Tensor:
        lengths = torch.linalg.vector_norm(vectors, dim=1, keepdim=True).clamp_(min=1e-12)
        normalised: Tensor = vectors / lengths
        ctx.save_for_backward(normalised, lengths)
        return normalised

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slopes: Tensor) -> Tensor:
        normalised, lengths = ctx.saved_tensors
        along = torch.linalg.vecdot(slopes, normalised)[:, None]
        across: Tensor = torch.addcmul(slopes, normalised, along, value=-1).div_(lengths)
        return across


class TransE(Translation, name="transe"):
    """P = 1 - tanh(d), where d is the L1 distance from anchor + relation to the entity.

    With `norm = 2`, d is the *squared* L2 distance: that makes it the special case of Region, and
    is what the original's own code computes.
    """

    Settings = TransESettings

    def __init__(self, num_entities: int, num_relations: int, settings: TransESettings) -> None:
        super().__init__(num_entities, num_relations, settings)
        self.geometry = Manhattan if settings.norm == 1 else Squared
