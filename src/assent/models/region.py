"""Region (Speranskaya, Schmitt & Roth, 2020): a translation that ends in a region of its own."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from assent.errors import ConfigError
from assent.geometry import Squared
from assent.models.transe import Translation, TranslationSettings


@dataclass(frozen=True, slots=True)
class RegionSettings(TranslationSettings):
    shape: Literal["ellipse", "sphere"] = "ellipse"
    pace: float = 1.0  # of log a_r, which has a longer way to go than other numbers

    def __post_init__(self) -> None:
        TranslationSettings.__post_init__(self)  # a class with slots is made anew: no super()
        if not self.pace > 0:
            raise ConfigError(f"model.pace: expected more than 0, found {self.pace}")


class Region(Translation, name="region"):
    """P = 1 - tanh(d), d = (h + r - t)^T diag(a_r) (h + r - t), not its root.

    `ellipse` has a positive a_r for each dimension, `sphere` one a relation. The paper only asks
    for positive numbers; here they are exp(pace x) of an x that is learned and starts at 0: a_r = 1
    everywhere is TransE with the squared L2 distance. Entities are normalised as in TransE. Without
    reciprocal relations both directions share r and a_r.
    """

    Settings = RegionSettings
    settings: RegionSettings
    geometry = Squared

    def __init__(self, num_entities: int, num_relations: int, settings: RegionSettings) -> None:
        super().__init__(num_entities, num_relations, settings)
        width = settings.dim if settings.shape == "ellipse" else 1
        # (slot, dim) or (slot, 1): log a_r / pace
        self.log_weights = nn.Parameter(torch.zeros(self.slots, width))

    def weights(self, relations: Tensor) -> Tensor:
        learned = functional.embedding(relations % self.slots, self.log_weights)
        return (self.settings.pace * learned).exp()
