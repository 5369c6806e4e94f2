"""DistMult (Yang et al., 2015)."""

from torch import Tensor
from torch.nn import functional

from assent.geometry import Asked
from assent.models.embedding import DotModel, DotSettings


class DistMult(DotModel, name="distmult"):
    """<anchor, relation, entity>: symmetric, but for the parameters of the inverse relations."""

    def __init__(self, num_entities: int, num_relations: int, settings: DotSettings) -> None:
        super().__init__(num_entities, num_relations, settings)
        self.relations = self.drawn(self.num_slots, settings.dim)  # (slot, dim)

    def encode(self, anchors: Tensor, relations: Tensor) -> Tensor:
        return anchors * functional.embedding(relations, self.relations)

    def turned_round(
        self, anchors: Tensor, entities: Tensor, slots: Tensor
    ) -> tuple[Asked, Tensor]:
        anchors, entities = self.thinned(anchors, entities)
        return Asked(self.relations), anchors * entities
