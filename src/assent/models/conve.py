"""ConvE (Dettmers et al., 2018)."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from assent.errors import ConfigError
from assent.models.embedding import DotModel, DotSettings


@dataclass(frozen=True, slots=True)
class ConvESettings(DotSettings):
    anchor_dropout: float = 0.2
    feature_dropout: float = 0.2  # share of the channels that a training step does not see
    channels: int = 32  # that the convolution makes of a picture
    height: int = 0  # of a vector's picture; 0: as near to a square as `dim` allows


class ConvE(DotModel, name="conve"):
    """Anchor over relation as one picture, a 3x3 convolution, and a projection back to `dim`.

    The picture has one channel, so that the convolution is a product of its 3x3 patches with the
    filters: two thirds of the time of torch's own on a CPU, most of it saved on the way back.
    """

    Settings = ConvESettings
    settings: ConvESettings

    def __init__(self, num_entities: int, num_relations: int, settings: ConvESettings) -> None:
        super().__init__(num_entities, num_relations, settings)
        height, width = picture(settings.dim, settings.height)
        if width < 3 or settings.channels < 1:
            raise ConfigError(
                f"conve: a 3x3 convolution needs channels and a dim that makes a picture at least "
                f"3 wide; {settings.dim} makes {height} x {width}"
            )
        self.picture = height, width
        self.relations = self.drawn(self.num_slots, settings.dim)  # (slot, dim)
        self.input_norm = nn.BatchNorm2d(1)
        self.filters = nn.Linear(9, settings.channels, bias=False)  # the norm has a bias
        self.feature_norm = nn.BatchNorm1d(settings.channels)
        features = (2 * height - 2) * (width - 2) * settings.channels
        self.projection = nn.Linear(features, settings.dim, bias=False)
        self.query_norm = nn.BatchNorm1d(settings.dim)

    def encode(self, anchors: Tensor, relations: Tensor) -> Tensor:
        height, width = self.picture
        pair = torch.cat([anchors, functional.embedding(relations, self.relations)], dim=1)
        x = self.input_norm(pair.view(-1, 1, 2 * height, width))
        patches = functional.unfold(x, 3).transpose(1, 2).reshape(-1, 9)  # (query * place, 9)
        x = functional.relu(self.feature_norm(self.filters(patches)), inplace=True)
        x = x.view(len(anchors), -1, self.settings.channels)  # (query, place, channel)
        if self.training:
            whole_channels = x.new_ones(len(x), 1, self.settings.channels)
            x = x * self.dropped(whole_channels, self.settings.feature_dropout)
        return functional.relu(self.normed(self.projection(x.flatten(1))), inplace=True)

    def normed(self, queries: Tensor) -> Tensor:
        """A batch of one query has no variance: it is normalised by what was seen so far."""
        norm = self.query_norm
        if len(queries) > 1:
            normed: Tensor = norm(queries)
            return normed
        return functional.batch_norm(
            queries, norm.running_mean, norm.running_var, norm.weight, norm.bias, eps=norm.eps
        )


def picture(dim: int, height: int = 0) -> tuple[int, int]:
    """Height and width, height the larger, as near to a square as `dim` allows: 128 -> (16, 8).

    A `height` that is given must divide `dim`.
    """
    if height:
        if height < 0 or dim % height:
            raise ConfigError(f"model.height: expected one that divides {dim}, found {height}")
        return height, dim // height
    width = max(side for side in range(1, int(dim**0.5) + 1) if dim % side == 0)
    return dim // width, width
