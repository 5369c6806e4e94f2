"""From raw numbers, dot products or distances, to scores; and what a refused score costs.

A link takes its matrix in place, because it is the one thing here that grows with
queries x entities.
"""

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor
from torch.nn import functional

from assent.errors import ConfigError
from assent.geometry import passes
from assent.geometry.passes import Parts

# A distance counts as at least this much: 1 - tanh(d) is then at most 1 - 1e-6 and the score at
# most 13.8, so that value and gradient stay finite where a query hits an entity exactly. It
# stands just above what float32 leaves of a squared distance after cancellation. Below it the
# score is constant, with gradient zero.
NEAR = 1e-6


class Link(ABC):
    """How a raw number becomes a logit."""

    @staticmethod
    @abstractmethod
    def logits_(raw: Tensor) -> Tensor:
        """Raw numbers to logits, in place."""

    @staticmethod
    @abstractmethod
    def steepness(raw: Tensor) -> Tensor:
        """d logit / d raw, of the shape of `raw` or a single number."""

    @staticmethod
    @abstractmethod
    def refuse_(
        raw: Tensor,
        bias: Tensor | None,
        label: float,
        scale: float = 1.0,
        columns: Tensor | None = None,
        parts: Parts | None = None,
    ) -> Tensor:
        """Labels every candidate alike: the summed binary cross-entropy.

        `raw` (query, entity) becomes d loss / d raw, times `scale`, and `columns` (entity,) the
        sums of its columns. The bias (entity,) is added first. With `parts`, a candidate counts
        as often as its part says, in the loss and in the slopes.
        """


class Logistic(Link):
    """The raw number is the logit."""

    @staticmethod
    def logits_(raw: Tensor) -> Tensor:
        return raw

    @staticmethod
    def steepness(raw: Tensor) -> Tensor:
        return raw.new_ones(())

    @staticmethod
    def refuse_(
        raw: Tensor,
        bias: Tensor | None,
        label: float,
        scale: float = 1.0,
        columns: Tensor | None = None,
        parts: Parts | None = None,
    ) -> Tensor:
        parts = parts or Parts.one(raw.shape[1])
        if passes.can_run(raw):
            return passes.refuse_logits(raw, bias, label, scale, columns, parts)
        if bias is not None:
            raw += bias
        weights = parts.by_column(raw)
        loss = (functional.softplus(raw) * weights).sum(dtype=torch.float64)
        if label:
            loss -= label * (raw * weights).sum(dtype=torch.float64)
        raw.sigmoid_()
        if label:
            raw -= label
        raw *= scale * weights
        if columns is not None:
            torch.sum(raw, 0, out=columns)
        return loss


class Tanh(Link):
    """logit = log 2 - log(expm1(2 d)), for which sigmoid(logit) = 1 - tanh(d).

    Written as log 2 - 2 d - log(1 - exp(-2 d)) it neither overflows nor cancels. With the odds
    u = exp(logit) the rest is short: d logit / d d = -(2 + u), a refusal costs log1p(u), and
    changes with d by -(u + u / (1 + u)).
    """

    @staticmethod
    def logits_(raw: Tensor) -> Tensor:
        raw.clamp_(min=NEAR).mul_(-2)
        return raw.sub_(torch.expm1(raw).neg_().log_()).add_(math.log(2))

    @staticmethod
    def steepness(raw: Tensor) -> Tensor:
        steepness = 2 / torch.expm1(raw.clamp(min=NEAR).mul_(-2))
        return steepness.mul_(raw >= NEAR)

    @staticmethod
    def refuse_(
        raw: Tensor,
        bias: Tensor | None,
        label: float,
        scale: float = 1.0,
        columns: Tensor | None = None,
        parts: Parts | None = None,
    ) -> Tensor:
        if bias is not None or columns is not None:
            raise ConfigError("a distance takes no bias")
        parts = parts or Parts.one(raw.shape[1])
        if passes.can_run(raw):
            return passes.refuse_distances(raw, NEAR, label, scale, parts)
        near, weights = raw < NEAR, parts.by_column(raw)
        logits = Tanh.logits_(raw)
        loss = (functional.softplus(logits) * weights).sum(dtype=torch.float64)
        if label:
            loss -= label * (logits * weights).sum(dtype=torch.float64)
        odds = logits.exp()
        # (sigmoid(logit) - label) (d logit / d d), without the cancellation of large odds
        slopes = logits.sigmoid_().add_(odds).sub_(odds.add_(2), alpha=label)
        slopes.mul_(-scale * weights).masked_fill_(near, 0)
        return loss
