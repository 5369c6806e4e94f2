"""What training and measuring ask of a model, whatever it is made of."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from assent.core.arrays import Ids
from assent.core.queries import Queries
from assent.core.texts import Texts
from assent.errors import ConfigError
from assent.geometry import Answers, Peers, query_weights

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


class Told(NamedTuple):
    """Facts of a batch, in random order, whose relation is asked for as well."""

    queries: Tensor  # (fact,)  the row of a query in the batch
    entities: Tensor  # (fact,)  one of its answers


class Terms(NamedTuple):
    """What a step learns from. Those that it does without are None."""

    loss: Tensor
    n3: Tensor | None = None
    relation: Tensor | None = None


class Model(nn.Module, ABC):
    """Learns from queries with their answers, and scores candidates.

    `relations` are slots: those from `num_relations` on ask for the head.
    """

    learners: int = 1  # parts that learn by themselves; the loss is the mean of theirs
    peers: Peers | None = None  # the processes that share the entities, if there are several
    whole_digest: str | None = None  # where this process has some of the entities alone

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
    def n3(self, anchors: Tensor, relations: Tensor, weights: Tensor | None = None) -> Tensor:
        """The cubed numbers that these queries are made of (Lacroix et al., 2018), averaged.

        Each query counts by its weight (query,), if there are weights.
        """

    @abstractmethod
    def relation_loss(self, anchors: Tensor, relations: Tensor, entities: Tensor) -> Tensor:
        """How badly these facts tell their slot by their two ends (Chen et al., 2021), averaged.

        The cross-entropy of a softmax over the scores of all slots. Facts come in random order: a
        model to which many would cost too much takes the first of them.
        """

    def terms(
        self,
        anchors: Tensor,
        relations: Tensor,
        answers: Answers,
        *,
        loss: str = "bce",
        n3: bool = False,
        told: Told | None = None,
        **options: Any,
    ) -> Terms:
        """The loss with the terms that a step adds to it; a model may share work between them.

        A query counts as often in N3 as in the loss.
        """
        weights = query_weights(loss, answers.counts)
        return Terms(
            self.loss(anchors, relations, answers, loss=loss, **options),
            self.n3(anchors, relations, weights) if n3 else None,
            None
            if told is None
            else self.relation_loss(anchors[told.queries], relations[told.queries], told.entities),
        )

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

        `tables` stand in for `entity_tables()`, and have a row for each of them. Where several
        processes share the entities, these are its own, and queries name all entities by their ids.
        """

    def see(self, facts: Ids) -> None:
        """Takes in the train facts, for models that need them beside what they learn."""

    def saw(self, facts: Ids) -> bool:
        """Whether these are the facts that it took in, if it needs any."""
        return True

    def reach(self, entities: Tensor) -> Tensor:
        """What a step about these `entities` must know: they, and after them perhaps others."""
        return entities

    def knowing(self, more: Texts) -> Self:
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

    def take(self, weights: Mapping[str, Tensor]) -> None:
        """Has these weights from now on: themselves, not copies; a RuntimeError if they do not fit.

        A table may fill half of the memory. Read from a file, it is a view of the file.
        """
        kinds = {name: tensor.dtype for name, tensor in self.state_dict().items()}
        fitting = {name: x.to(kinds.get(name, x.dtype)) for name, x in weights.items()}
        self.load_state_dict(fitting, assign=True)

    @property
    def num_rows(self) -> int:
        """How many entities have a row in the tables of this process."""
        return self.num_entities if self.peers is None else self.peers.count(self.num_entities)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def digest(self) -> str:
        """A checksum of all that scores depend on."""
        if self.whole_digest is not None:
            return self.whole_digest
        sha = hashlib.sha256(type(self).__name__.encode())
        for name, tensor in sorted(self.state_dict().items()):
            sha.update(name.encode())
            sha.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
        return sha.hexdigest()
