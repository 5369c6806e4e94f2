"""Graph attention: an entity is its own vector and what its neighbours tell it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from assent.core.arrays import Ids
from assent.errors import ConfigError, DataError
from assent.geometry import Table
from assent.geometry.attending import Ears, Messages, heard
from assent.models.around import Around
from assent.models.base import WHOLE
from assent.models.composed import Composed
from assent.models.embedding import DotSettings


@dataclass(frozen=True, slots=True)
class AttentionSettings(DotSettings):
    heads: int = 4  # parts of a vector that are heard apart; dim is an even multiple of it
    heard: int = 8  # facts of an entity that a training step draws
    most: int = 1000  # facts of an entity that are heard at rest
    hidden: float = 0.5  # share of the pairs of entities that tell each other nothing in a step

    def __post_init__(self) -> None:
        DotSettings.__post_init__(self)  # a class with slots is made anew: no super()
        for name in ("heads", "heard", "most"):
            if (found := getattr(self, name)) < 1:
                raise ConfigError(f"model.{name}: expected 1 or more, found {found}")
        if self.dim % (2 * self.heads):
            raise ConfigError(
                f"model.dim: attention takes a multiple of {2 * self.heads} (twice model.heads), "
                f"found {self.dim}"
            )
        if not 0 <= self.hidden < 1:
            raise ConfigError(f"model.hidden: expected 0 to less than 1, found {self.hidden}")


class Attention(Composed, name="attention"):
    """ComplEx over vectors to which train facts add what the entities at their other ends tell.

    A fact tells an entity the complex product of the other entity's own vector and of a vector of
    the slot. An entity weighs what it is told by attention: a softmax of <own * asking + listening,
    message> + leaning of the slot, head by head, where silence scores 0. In the manner of Nathani
    et al. (2019), whose score is a layer over entity, message and slot, and of CompGCN.

    A training step draws some facts of each entity. It hides pairs of entities from each other,
    whatever joins them and whatever is asked: so that the fact that is asked for is not always
    told, and its absence says nothing about it.
    """

    Settings = AttentionSettings
    settings: AttentionSettings
    offsets: Tensor
    others: Tensor
    slots: Tensor

    def __init__(self, num_entities: int, num_relations: int, settings: AttentionSettings) -> None:
        super().__init__(num_entities, num_relations, settings)
        self.telling = self.drawn(self.num_slots, settings.dim)  # (slot, dim)
        self.asking = nn.Parameter(torch.ones(settings.dim))
        self.listening = nn.Parameter(torch.zeros(settings.dim))
        self.leanings = nn.Parameter(torch.zeros(self.num_slots, settings.heads))  # (slot, head)
        self._reached: Messages | None = None  # by the ids of entities; of the step to come
        self._told: Messages | None = None  # by their places; of the entities known alone
        self.see(np.zeros((0, 3), np.int32))

    def see(self, facts: Ids) -> None:
        self.forget()
        for name, part in Around.of(facts, self.num_entities, self.num_relations)._asdict().items():
            self.register_buffer(name, part.to(self.device))

    def saw(self, facts: Ids) -> bool:
        here = Around.of(facts, self.num_entities, self.num_relations)
        return all(torch.equal(a.cpu(), b) for a, b in zip(self.around, here, strict=True))

    @property
    def around(self) -> Around:
        return Around(self.offsets, self.others, self.slots)

    def reach(self, entities: Tensor) -> Tensor:
        messages = self._told_to(entities)
        known = torch.zeros(self.num_entities, dtype=torch.bool, device=entities.device)
        known[entities] = True
        senders = torch.unique(messages.senders)
        self._reached = messages
        return torch.cat([entities, senders[~known[senders]]])

    @contextmanager
    def only(self, tables: Sequence[nn.Parameter], entities: Tensor) -> Iterator[None]:
        messages = self._told_to(entities) if self._reached is None else self._reached
        self._reached = None
        places = entities.new_full((self.num_entities,), -1)
        places[entities] = torch.arange(len(entities), device=entities.device)
        senders = places[messages.senders]
        with super().only(tables, entities):
            self._told = messages._replace(senders=senders).kept(senders >= 0)
            try:
                yield
            finally:
                self._told = None

    def _told_to(self, entities: Tensor) -> Messages:
        """What these entities are told, in a step or at rest, by the ids of all."""
        settings = self.settings
        if not self.training:
            return self.around.told(entities, settings.most, drawn=False)
        messages = self.around.told(entities, settings.heard, drawn=True)
        # Each entity draws a place on a circle. A pair is hidden by the sum of its two places,
        # which says nothing of either by itself, nor of the sum with a third.
        circle = torch.rand(self.num_entities, device=entities.device)
        sums = circle[entities][messages.hearers] + circle[messages.senders]
        louder = messages.louder - np.log1p(-settings.hidden)
        return messages._replace(louder=louder).kept(sums % 1 >= settings.hidden)

    def composed(self, which: slice | Tensor) -> Table:
        count = self.num_entities if self._told is None else len(self._told.louder)
        own, bias = self.entities[:count], None if self.bias is None else self.bias[:count]
        rows = torch.arange(count, device=self.device)
        if not (isinstance(which, slice) and which == WHOLE):
            rows = rows[which]
            own, bias = own[rows], None if bias is None else bias[rows]
        told = self._told_to(rows) if self._told is None else self._told.of(rows)
        told = told._replace(louder=told.louder.to(own.dtype))
        ears = Ears(self.telling, own * self.asking + self.listening, self.leanings)
        return Table(own + heard(told, self.entities, ears), bias)

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        """The facts are those that are loaded, however many."""
        self.forget()
        for name in Around._fields:
            if (part := state.get(prefix + name)) is not None:
                setattr(self, name, torch.empty_like(part, device=self.device))
        super()._load_from_state_dict(state, prefix, *rest)
        if not self.around.fits(self.num_entities, self.num_slots):
            raise DataError("attention: what is saved of the facts does not fit together")
