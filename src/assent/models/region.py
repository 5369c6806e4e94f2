"""Region (Speranskaya, Schmitt & Roth, 2020): a translation that ends in a region of its own."""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from assent.errors import ConfigError
from assent.geometry import Asked, Squared
from assent.models.transe import Translation, TranslationSettings


@dataclass(frozen=True, slots=True)
class RegionSettings(TranslationSettings):
    shape: Literal["ellipse", "sphere"] = "ellipse"  # a weight a dimension, or one for all
    anchor: Literal["plain", "scaled"] = "plain"  # plain is the paper's formula
    start: float = 1.0  # a_r before training
    pace: float = 1.0  # of log a_r, which has a longer way to go than other numbers

    def __post_init__(self) -> None:
        TranslationSettings.__post_init__(self)  # a class with slots is made anew: no super()
        for name in ("start", "pace"):
            if not getattr(self, name) > 0:
                raise ConfigError(
                    f"model.{name}: expected more than 0, found {getattr(self, name)}"
                )
        if self.anchor == "scaled" and not self.reciprocal:
            raise ConfigError(
                "model.anchor: a scaled anchor needs model.reciprocal, as a relation's way back "
                "would divide by its scales; choose model.anchor=plain or leave model.reciprocal "
                "as it is"
            )


class Region(Translation, name="region"):
    """P = 1 - tanh(d), d = (h + r - t)^T diag(a_r) (h + r - t), not its root.

    `ellipse` has a positive a_r for each dimension, `sphere` one a relation. The paper only asks
    for positive numbers; here they are exp(pace x) of an x that is learned. a_r = 1 everywhere is
    TransE with the squared L2 distance. Entities are normalised as in TransE. Without reciprocal
    relations both directions share r and a_r.

    A variant that is not in the paper has a `scaled` anchor: (b_r h + r - t), with a b_r for each
    dimension that is learned and starts as 1 or -1 at random. Where a relation holds in both
    directions, one of h + r and t + r at least is nearer to its own anchor than to the answer;
    with a b_r of -1 in some dimensions neither need be.
    """

    Settings = RegionSettings
    settings: RegionSettings
    geometry = Squared

    def __init__(self, num_entities: int, num_relations: int, settings: RegionSettings) -> None:
        super().__init__(num_entities, num_relations, settings)
        width = settings.dim if settings.shape == "ellipse" else 1
        # (slot, dim) or (slot, 1): log a_r / pace
        begun = math.log(settings.start) / settings.pace
        self.log_weights = nn.Parameter(torch.full((self.slots, width), begun))
        if settings.anchor == "scaled":
            signs = torch.randint(2, (self.slots, settings.dim)).mul(2).sub(1)
            self.scales = nn.Parameter(signs.to(self.relations))  # (slot, dim)

    def encode(self, anchors: Tensor, relations: Tensor) -> Tensor:
        if self.settings.anchor == "scaled":
            anchors = anchors * functional.embedding(relations, self.scales)
        return super().encode(anchors, relations)

    def turned_round(
        self, anchors: Tensor, entities: Tensor, slots: Tensor
    ) -> tuple[Asked, Tensor] | None:
        if self.settings.anchor == "scaled":
            return None
        return super().turned_round(anchors, entities, slots)

    def weights(self, relations: Tensor) -> Tensor:
        learned = functional.embedding(relations % self.slots, self.log_weights)
        return (self.settings.pace * learned).exp()
