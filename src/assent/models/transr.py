"""TransR (Lin et al., 2015): a translation in a space of the relation's own."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from assent.errors import ConfigError
from assent.geometry import Projected
from assent.models.rescal import turned
from assent.models.transe import Translation, TranslationSettings


@dataclass(frozen=True, slots=True)
class TransRSettings(TranslationSettings):
    space: int = 0  # dimensions of a relation's space; 0: as many as `dim`

    def __post_init__(self) -> None:
        TranslationSettings.__post_init__(self)  # a class with slots is made anew: no super()
        if self.space < 0:
            raise ConfigError(f"model.space: expected 0 or more, found {self.space}")


class TransR(Translation, name="transr"):
    """P = 1 - tanh(d), d = |h M_r + r - t M_r|^2.

    Every M_r starts as the identity, as in the original, which then is TransE with the squared L2
    distance. A step projects the candidates once for each slot among its queries, so that batches
    of few slots (`train.slots`) are what makes it fast.
    """

    Settings = TransRSettings
    settings: TransRSettings
    geometry = Projected

    def __init__(self, num_entities: int, num_relations: int, settings: TransRSettings) -> None:
        super().__init__(num_entities, num_relations, settings)
        space = settings.space or settings.dim
        self.relations = self.drawn(self.slots, space)  # (slot, space)
        start = torch.eye(settings.dim, space).repeat(self.slots, 1, 1)
        self.matrices = nn.Parameter(start)  # (slot, dim, space)

    def encode(self, anchors: Tensor, relations: Tensor) -> Tensor:  # -> (query, space)
        return super().encode(turned(anchors, self.matrices, relations % self.slots), relations)

    def weights(self, relations: Tensor) -> Tensor:
        return self.matrices

    def owners(self, relations: Tensor) -> Tensor:
        return relations % self.slots
