"""Several models of one kind as one: the mean of their scores is less random than each."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Self, cast

import numpy as np
import torch
from torch import Tensor, nn

from assent.core.arrays import Ids
from assent.core.columns import tile_width
from assent.core.queries import Queries
from assent.core.texts import Texts
from assent.geometry import Answers
from assent.models.base import WHOLE, Model, Terms
from assent.models.embedding import Embedding


class Members(Model):
    """Each learns by itself, from other random numbers; a score is the mean of their logits.

    Members of ComplEx or DistMult make one such model with all their dimensions, whose parts
    learned to answer without each other. The terms of a loss are means of theirs, as if each were
    alone.
    """

    def __init__(self, members: Sequence[Embedding]) -> None:
        first = members[0]
        super().__init__(first.num_entities, first.num_relations, first.settings)
        self.peers = first.peers
        self.members = nn.ModuleList(members)
        self.learners = len(members)

    def loss(self, anchors: Tensor, relations: Tensor, answers: Answers, **options: Any) -> Tensor:
        return self._mean(each.loss(anchors, relations, answers, **options) for each in self)

    def n3(self, anchors: Tensor, relations: Tensor, weights: Tensor | None = None) -> Tensor:
        return self._mean(each.n3(anchors, relations, weights) for each in self)

    def relation_loss(self, anchors: Tensor, relations: Tensor, entities: Tensor) -> Tensor:
        return self._mean(each.relation_loss(anchors, relations, entities) for each in self)

    def terms(self, anchors: Tensor, relations: Tensor, answers: Answers, **options: Any) -> Terms:
        losses, *others = zip(
            *(each.terms(anchors, relations, answers, **options) for each in self), strict=True
        )
        n3, relation = (None if each[0] is None else self._mean(iter(each)) for each in others)
        return Terms(self._mean(iter(losses)), n3, relation)

    @torch.no_grad()
    def scores(self, anchors: Tensor, relations: Tensor, part: slice = WHOLE) -> Tensor:
        meetings = (each.meeting(anchors, relations, part) for each in self)
        geometry, width = next(iter(self)).geometry, tile_width(self.num_entities)
        return geometry.mean_scores(meetings, len(self.members), width)

    @torch.no_grad()
    def pairs(self, anchors: Tensor, relations: Tensor, entities: Tensor) -> Tensor:
        return self._mean(each.pairs(anchors, relations, entities) for each in self)

    def entity_tables(self) -> list[nn.Parameter]:
        return [table for each in self for table in each.entity_tables()]

    @contextmanager
    def only(self, tables: Sequence[nn.Parameter], entities: Tensor) -> Iterator[None]:
        with ExitStack() as stack:
            rest = iter(tables)
            for each in self:
                mine = [next(rest) for _ in each.entity_tables()]
                stack.enter_context(each.only(mine, entities))
            yield

    def see(self, facts: Ids) -> None:
        for each in self:
            each.see(facts)

    def saw(self, facts: Ids) -> bool:
        return all(each.saw(facts) for each in self)

    def reach(self, entities: Tensor) -> Tensor:
        others = torch.cat([each.reach(entities)[len(entities) :] for each in self])
        return torch.cat([entities, torch.unique(others)])

    def knowing(self, more: Texts) -> Self:
        return type(self)([each.knowing(more) for each in self])

    def derives(self) -> bool:
        return any(each.derives() for each in self)

    def derive(self, queries: Queries, rng: np.random.Generator) -> None:
        for each in self:
            each.derive(queries, rng)

    def __iter__(self) -> Iterator[Embedding]:
        return iter(cast(Sequence[Embedding], self.members))

    def _mean(self, parts: Iterator[Tensor]) -> Tensor:
        return torch.stack(list(parts)).mean(0)
