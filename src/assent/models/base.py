"""What training and measuring ask of a model, whatever it is made of."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from assent.core.queries import Queries
from assent.core.texts import Texts
from assent.errors import ConfigError
from assent.geometry import Answers

WHOLE = slice(None)
MOST_MEMBERS = 1000


@dataclass(frozen=True, slots=True)
class ModelSettings:
    dim: int = 128  # of an entity's vector
    init_scale: float = 0.1  # standard deviation of the vectors before training
    anchor_dropout: float = 0.0  # share of an anchor's vector that a training step does not see
    query_dropout: float = 0.0  # the same of the query vector
    members: int = 1  # models of this kind, side by side; 0: by the number of queries

    def __post_init__(self) -> None:
        for name, least in (("dim", 1), ("members", 0)):
            if getattr(self, name) < least:
                found = getattr(self, name)
                raise ConfigError(f"model.{name}: expected {least} or more, found {found}")
        if self.members > MOST_MEMBERS:
            raise ConfigError(
                f"model.members: expected {MOST_MEMBERS} at most, found {self.members}"
            )
        if not self.init_scale > 0:
            raise ConfigError(f"model.init_scale: expected more than 0, found {self.init_scale}")
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if name.endswith("dropout") and not 0 <= value < 1:
                raise ConfigError(f"model.{name}: expected 0 to less than 1, found {value}")


class Model(nn.Module, ABC):
    """Learns from queries with their answers, and scores candidates.

    `relations` are slots: those from `num_relations` on ask for the head.
    """

    learners: int = 1  # parts that learn by themselves; the loss is the mean of theirs

    def __init__(self, num_entities: int, num_relations: int, settings: ModelSettings) -> None:
        super().__init__()
        self.num_entities = num_entities
        self.num_relations = num_relations
        self.num_slots = 2 * num_relations  # each relation, in both directions
        self.settings = settings

    @abstractmethod
    def loss(self, anchors: Tensor, relations: Tensor, answers: Answers, **options: Any) -> Tensor:
        """The KvsAll loss of these queries; options as `kvsall` takes them."""

    @abstractmethod
    def n3(self, anchors: Tensor, relations: Tensor) -> Tensor:
        """The cubed numbers that these queries are made of (Lacroix et al., 2018), averaged."""

    def loss_and_n3(
        self, anchors: Tensor, relations: Tensor, answers: Answers, **options: Any
    ) -> tuple[Tensor, Tensor]:
        """Both, for a step that needs both; a model may share work between them."""
        return self.loss(anchors, relations, answers, **options), self.n3(anchors, relations)

    @abstractmethod
    def scores(self, anchors: Tensor, relations: Tensor, part: slice = WHOLE) -> Tensor:
        """Scores (query, entity) as logits, without dropout, whatever the mode of the model."""

    @abstractmethod
    def pairs(self, anchors: Tensor, relations: Tensor, entities: Tensor) -> Tensor:
        """The score (fact,) of each of these facts: the same as in `scores`, and nothing else."""

    @abstractmethod
    def entity_tables(self) -> list[nn.Parameter]:
        """The parameters that have one row an entity."""

    @abstractmethod
    def only(
        self, tables: Sequence[nn.Parameter], entities: Tensor
    ) -> AbstractContextManager[None]:
        """Within it the model knows these `entities` (row,) alone; their places are their ids.

        `tables` stand in for `entity_tables()`, and have a row for each of them.
        """

    def knowing(self, more: Texts) -> "Model":
        """A copy that knows further entities, after its own, by what is written about them."""
        raise ConfigError(
            f"{type(self).__name__} knows the entities that it was trained on alone; the model "
            "text knows others by what is written about them"
        )

    def derives(self) -> bool:
        """Whether the model has numbers that are worked out from the facts, not learned."""
        return False

    def derive(self, queries: Queries, rng: np.random.Generator) -> None:
        """Works these numbers out anew; training does so before each epoch.

        `queries` are those of the train facts, from both sides, with all their answers.
        """

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def digest(self) -> str:
        """A checksum of all that scores depend on."""
        sha = hashlib.sha256(type(self).__name__.encode())
        for name, tensor in sorted(self.state_dict().items()):
            sha.update(name.encode() + tensor.detach().cpu().contiguous().numpy().tobytes())
        return sha.hexdigest()
