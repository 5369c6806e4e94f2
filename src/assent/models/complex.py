"""ComplEx (Trouillon et al., 2016)."""

import torch
from torch import Tensor
from torch.nn import functional

from assent.errors import ConfigError
from assent.geometry import Asked
from assent.geometry.vectorwise import complex_cubes
from assent.models.embedding import DotModel, DotSettings


class ComplEx(DotModel, name="complex"):
    """Re <anchor, relation, conjugate of entity>.

    `dim` counts real numbers: the first half of a vector is real, the second imaginary.
    """

    def __init__(self, num_entities: int, num_relations: int, settings: DotSettings) -> None:
        if settings.dim % 2:
            raise ConfigError(f"model.dim: complex takes an even number, found {settings.dim}")
        super().__init__(num_entities, num_relations, settings)
        self.relations = self.drawn(self.num_slots, settings.dim)  # (slot, dim)

    def cubes(self, vectors: Tensor) -> Tensor:
        return complex_cubes(vectors)

    def encode(self, anchors: Tensor, relations: Tensor) -> Tensor:
        real, imaginary = anchors.chunk(2, dim=1)
        r_real, r_imaginary = functional.embedding(relations, self.relations).chunk(2, dim=1)
        return torch.cat(
            [
                real * r_real - imaginary * r_imaginary,
                real * r_imaginary + imaginary * r_real,
            ],
            dim=1,
        )

    def turned_round(
        self, anchors: Tensor, entities: Tensor, slots: Tensor
    ) -> tuple[Asked, Tensor]:
        anchors, entities = self.thinned(anchors, entities)
        real, imaginary = anchors.chunk(2, dim=1)
        e_real, e_imaginary = entities.chunk(2, dim=1)
        return Asked(self.relations), torch.cat(
            [
                real * e_real + imaginary * e_imaginary,
                real * e_imaginary - imaginary * e_real,
            ],
            dim=1,
        )
