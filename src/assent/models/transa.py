"""TransA (Xiao et al., 2015): a translation measured by a metric that the facts themselves give."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from assent.core.arrays import places_in
from assent.core.queries import Queries
from assent.errors import ConfigError
from assent.geometry import Absolute, Asked, Squared
from assent.models.transe import Translation, TranslationSettings

MOST_FACTS = 1 << 14  # of a slot, from which its metric is derived; drawn where it has more


@dataclass(frozen=True, slots=True)
class TransASettings(TranslationSettings):
    metric: Literal["full", "diagonal"] = "full"  # diagonal: 14 times as fast
    far: float = 6.0  # the mean distance d of wrong facts, to which each metric is scaled

    def __post_init__(self) -> None:
        TranslationSettings.__post_init__(self)  # a class with slots is made anew: no super()
        if not self.far > 0:
            raise ConfigError(f"model.far: expected more than 0, found {self.far}")


class TransA(Translation, name="transa"):
    """P = 1 - tanh(d), d = |h + r - t|^T W_r |h + r - t|, absolute values of each dimension.

    W_r is not learned. It is what sets wrong facts furthest apart from train facts, for embeddings
    as they are: the mean of |x| |x|^T over wrong facts less that over train facts, negative numbers
    set to 0. A wrong fact is a train fact with an entity drawn in place of the answer. Training
    derives it before each epoch; until then it is the identity.

    The original leaves the size of W_r open (the weight of its norm in the loss); here it is what
    makes `far` the mean distance of wrong facts.
    """

    Settings = TransASettings
    settings: TransASettings
    metrics: Tensor  # (slot, dim, dim), or (slot, dim) of the diagonals

    def __init__(self, num_entities: int, num_relations: int, settings: TransASettings) -> None:
        super().__init__(num_entities, num_relations, settings)
        full = settings.metric == "full"
        self.geometry = Absolute if full else Squared
        # Of two unit vectors in random directions the squared distance is 2, on average.
        one = torch.eye(settings.dim) if full else torch.ones(settings.dim)
        self.register_buffer(
            "metrics", (settings.far / 2 * one).repeat(self.slots, *[1] * one.dim())
        )

    def weights(self, relations: Tensor) -> Tensor:
        if self.settings.metric == "full":
            return self.metrics
        return self.metrics[relations % self.slots]

    def owners(self, relations: Tensor) -> Tensor | None:
        return relations % self.slots if self.settings.metric == "full" else None

    def turned_round(
        self, anchors: Tensor, entities: Tensor, slots: Tensor
    ) -> tuple[Asked, Tensor] | None:
        if self.settings.metric == "full":
            return None  # dim^2 multiplications for each fact and slot
        return super().turned_round(anchors, entities, slots)

    def derives(self) -> bool:
        return True

    @torch.no_grad()
    def derive(self, queries: Queries, rng: np.random.Generator) -> None:
        entities = None if self.peers is not None else self.placed(self.entities)
        slots = queries.relations % self.slots
        for slot in np.unique(slots).tolist():
            mine = np.flatnonzero(slots == slot)
            rows = np.repeat(mine, queries.num_answers[mine])
            answers = queries.answers[places_in(queries.offsets, mine)]
            if len(rows) > MOST_FACTS:
                some = rng.choice(len(rows), MOST_FACTS, replace=False)
                rows, answers = rows[some], answers[some]
            if len(rows):
                wrong = rng.integers(self.num_entities, size=len(rows))
                anchors, relations, *ends = (
                    torch.from_numpy(ids.astype(np.int64)).to(self.device)
                    for ids in (queries.anchors[rows], queries.relations[rows], answers, wrong)
                )
                vectors = (self._vectors(ids, entities) for ids in (anchors, *ends))
                starts = self.encode(next(vectors), relations)
                apart = ((starts - end).abs_() for end in vectors)
                self.metrics[slot] = self._metric(*apart)

    def _vectors(self, ids: Tensor, entities: Tensor | None) -> Tensor:  # -> (fact, dim)
        """Of entities as they are compared, from the table or from the processes that share it."""
        return self.placed(self._anchors(ids)) if entities is None else entities[ids]

    def _metric(self, right: Tensor, wrong: Tensor) -> Tensor:
        """From the absolute differences (fact, dim) of right and wrong facts."""
        means = wrong.T @ wrong / len(wrong)  # (dim, dim)
        apart = (means - right.T @ right / len(right)).clamp_(min=0)
        if self.settings.metric == "diagonal":
            apart, means = apart.diagonal(), means.diagonal()
        size = (apart * means).sum()  # the mean distance of the wrong facts
        if not size > 0:  # nothing sets them apart: a metric that knows no dimension from another
            apart = torch.ones_like(means) if means.dim() == 1 else torch.eye(len(means)).to(means)
            size = (apart * means).sum().clamp(min=1e-12)
        return apart * (self.settings.far / size)
