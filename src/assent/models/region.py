"""Region (Speranskaya, Schmitt & Roth, 2020): a translation that ends in a region of its own."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from assent.geometry import Squared
from assent.models.transe import Translation, TranslationSettings


@dataclass(frozen=True, slots=True)
class RegionSettings(TranslationSettings):
    shape: Literal["ellipse", "sphere"] = "ellipse"


class Region(Translation, name="region"):
    """P = 1 - tanh(d), d = (h + r - t)^T diag(a_r) (h + r - t), not its root.

    `ellipse` has a positive a_r for each dimension, `sphere` one a relation. The paper only asks
    for positive numbers; here they are the exponentials of what is learned, which starts at 0:
    a_r = 1 everywhere is TransE with the squared L2 distance. Entities are normalised as in
    TransE. Without reciprocal relations both directions share r and a_r.
    """

    Settings = RegionSettings
    geometry = Squared

    def __init__(self, num_entities: int, num_relations: int, settings: RegionSettings) -> None:
        super().__init__(num_entities, num_relations, settings)
        width = settings.dim if settings.shape == "ellipse" else 1
        self.log_weights = nn.Parameter(torch.zeros(self.slots, width))  # (slot, dim) or (slot, 1)

    def weights(self, relations: Tensor) -> Tensor:
        return functional.embedding(relations % self.slots, self.log_weights).exp()
