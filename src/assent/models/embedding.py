"""Embeddings: entities as a table, and a formula from queries to vectors."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from assent.core.columns import tile_width
from assent.core.texts import Texts
from assent.geometry import (
    Answers,
    Asked,
    Dot,
    Geometry,
    Table,
    Whole,
    kvsall,
    query_weights,
)
from assent.geometry.vectorwise import dropped
from assent.models.base import WHOLE, Model, ModelSettings, Terms, Told
from assent.models.making import is_loading, shared
from assent.models.relating import relation_loss


@dataclass(frozen=True, slots=True)
class DotSettings(ModelSettings):
    """For models whose score is a dot product."""

    anchor_dropout: float = 0.3
    query_dropout: float = 0.3
    entity_bias: bool = True  # a number of each entity, which is added to all its scores
    # what that number is before training; sigmoid(-6) = .0025: nearly every candidate is wrong,
    # which need not be learned first
    bias_start: float = -6.0


class Embedding(Model):
    """Entities, and how a query (anchor, relation) becomes vectors among them.

    Subclasses register themselves under a name, so that a new model is one new file.
    """

    Settings: ClassVar[type[ModelSettings]]
    tables: ClassVar[tuple[str, ...]] = ("entities", "bias")  # parameters with a row an entity
    registered: ClassVar[dict[str, type["Embedding"]]] = {}
    geometry: type[Geometry]
    relations: nn.Parameter  # (relation, ...)

    def __init_subclass__(cls, name: str | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if name is not None:
            Embedding.registered[name] = cls

    def __init__(self, num_entities: int, num_relations: int, settings: ModelSettings) -> None:
        super().__init__(num_entities, num_relations, settings)
        self.peers = shared()
        self.within: Tensor | None = None  # (row,)  the entities that a step with peers knows
        self.entities = self._drawn_entities(settings.dim)  # (entity, dim)
        self.bias: nn.Parameter | None = None  # (entity,)
        if isinstance(settings, DotSettings) and settings.entity_bias:
            self.bias = nn.Parameter(torch.full((self.num_rows,), settings.bias_start))

    @abstractmethod
    def encode(self, anchors: Tensor, relations: Tensor) -> Tensor:  # -> (query, dim)
        """The formula: where among the entities the answers of these queries should lie.

        Anchors come as vectors (query, dim), relations as ids (query,).
        """

    def read(self, texts: Texts) -> None:
        """Takes in what is written about the entities; most models have no use for it."""

    def weights(self, relations: Tensor) -> Tensor | None:
        """What the geometry takes from the relation of each query, beside the vectors.

        A row for each query; or, where `owners` has them, a row for each slot.
        """
        return None

    def owners(self, relations: Tensor) -> Tensor | None:  # -> (query,)
        """Which row of `weights` each query takes, where that is large and shared by many."""
        return None

    def vectors_of(self, which: slice | Tensor) -> Tensor:  # -> (entity, dim)
        """The vectors of these entities, before they are placed; a model may compute them."""
        # a slice of everything would cost a copy of the whole gradient
        if isinstance(which, Tensor):
            return self.entities.index_select(0, which)
        return self.entities if which == WHOLE else self.entities[which]

    def biases_of(self, which: slice | Tensor) -> Tensor | None:  # -> (entity,)
        """What is added to every score of these entities, if anything."""
        if self.bias is None or (isinstance(which, slice) and which == WHOLE):
            return self.bias
        return self.bias[which]

    def ask(self, anchors: Tensor, relations: Tensor) -> Asked:
        """Queries as the geometry takes them."""
        return self.asked(self.placed(self._anchors(anchors)), relations)

    def _anchors(self, ids: Tensor) -> Tensor:  # -> (query, dim)
        """The vectors of these anchors, from whichever process has them, before they are placed."""
        if self.peers is None:
            return self.vectors_of(ids)
        everything = self.vectors_of(WHOLE)
        return self.peers.rows_and_all(everything, self.peers.routes(ids, self.within))[0]

    def entity_table(self, which: slice | Tensor = WHOLE) -> Table:
        """All entities, or some of them, as the geometry takes them."""
        return Table(self.placed(self.vectors_of(which)), self.biases_of(which))

    def loss(self, anchors: Tensor, relations: Tensor, answers: Answers, **options: Any) -> Tensor:
        return self.terms(anchors, relations, answers, **options).loss

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
        """All vectors of a batch are gathered once, so that the table's gradient is made once."""
        weights = query_weights(loss, answers.counts)
        table = self.entity_table()
        ids = anchors if told is None else torch.cat([anchors, told.entities])
        if self.peers is None:
            rows, entities = rows_and_all(table.vectors, ids)
        else:
            routes = self.peers.routes(ids, self.within)
            rows, entities = self.peers.rows_and_all(table.vectors, routes)
            options["whole"] = Whole(self.peers, self.num_entities, answers.counts)
            answers = self.peers.answers(answers, self.within)
            if options.get("known") is not None:
                options["known"] = self.peers.answers(options["known"])
        relation = None
        if told is not None:
            rows, ends = rows[: len(anchors)], rows[len(anchors) :]
            starts = rows.index_select(0, told.queries)
            relation = relation_loss(self, starts, relations[told.queries], ends)
        asked, table = self.asked(rows, relations), Table(entities, table.bias)
        return Terms(
            kvsall(self.geometry, asked, table, answers, loss=loss, **options),
            self._n3(self._free(anchors, rows), relations, weights) if n3 else None,
            relation,
        )

    def relation_loss(self, anchors: Tensor, relations: Tensor, entities: Tensor) -> Tensor:
        vectors = self.placed(self._anchors(torch.cat([anchors, entities])))
        return relation_loss(self, vectors[: len(anchors)], relations, vectors[len(anchors) :])

    def turned_round(
        self, anchors: Tensor, entities: Tensor, slots: Tensor
    ) -> tuple[Asked, Tensor] | None:
        """The slots as queries, and facts as vectors (fact, dim) that these meet.

        Many formulas can be read so: in <anchor, relation, entity> the relation may stand on one
        side by itself as well as the entity. A fact then has the score that it has in each slot.
        None where that cannot be, or costs too much.
        """
        return None

    @torch.no_grad()
    def scores(self, anchors: Tensor, relations: Tensor, part: slice = WHOLE) -> Tensor:
        return self.meeting(anchors, relations, part).scores_in_tiles(tile_width(self.num_entities))

    @torch.no_grad()
    def meeting(self, anchors: Tensor, relations: Tensor, part: slice = WHOLE) -> Geometry:
        """Queries in front of the entities, to be scored."""
        anchors, relations = self._here(anchors, relations)
        with self._at_rest():
            return self.geometry(self.ask(anchors, relations), self.entity_table(part))

    @torch.no_grad()
    def pairs(self, anchors: Tensor, relations: Tensor, entities: Tensor) -> Tensor:
        anchors, relations, entities = self._here(anchors, relations, entities)
        with self._at_rest():
            table = self.rows_of(entities)
            return self.geometry(self.ask(anchors, relations), table).pairs()

    @torch.no_grad()
    def rows_of(self, entities: Tensor) -> Table:
        """These entities as the geometry takes them, from whichever process has them."""
        if self.peers is None:
            return self.entity_table(entities)
        routes, bias = self.peers.routes(entities), self.biases_of(WHOLE)
        vectors = self.peers.rows(self.vectors_of(WHOLE), routes)
        return Table(self.placed(vectors), None if bias is None else self.peers.rows(bias, routes))

    def entity_tables(self) -> list[nn.Parameter]:
        return [table for name in self.tables if (table := getattr(self, name)) is not None]

    @contextmanager
    def only(self, tables: Sequence[nn.Parameter], entities: Tensor) -> Iterator[None]:
        names = [name for name in self.tables if getattr(self, name) is not None]
        whole = self.entity_tables()
        try:
            for name, table in zip(names, tables, strict=True):
                setattr(self, name, table)
            self.within = entities
            yield
        finally:
            self.within = None
            for name, table in zip(names, whole, strict=True):
                setattr(self, name, table)

    def _here(self, *ids: Tensor) -> Iterator[Tensor]:
        """On the device of the model: who asks for scores need not know it."""
        return (part.to(self.device) for part in ids)

    @contextmanager
    def _at_rest(self) -> Iterator[None]:
        """Without dropout, for a while."""
        was_training = self.training
        self.eval()
        try:
            yield
        finally:
            self.train(was_training)

    def asked(self, anchors: Tensor, relations: Tensor) -> Asked:
        """Queries about anchors that come as vectors (query, dim)."""
        vectors = self.encode(self.dropped(anchors, self.settings.anchor_dropout), relations)
        vectors = self.dropped(vectors, self.settings.query_dropout)
        return Asked(vectors, self.weights(relations), self.owners(relations))

    def dropped(self, vectors: Tensor, share: float) -> Tensor:
        """With some of their numbers left out, in training."""
        return dropped(vectors, share) if self.training and share else vectors

    def placed(self, vectors: Tensor) -> Tensor:
        """Vectors of entities as they are compared; a model may normalise them."""
        return vectors

    def n3(self, anchors: Tensor, relations: Tensor, weights: Tensor | None = None) -> Tensor:
        return self._n3(self._anchors(anchors), relations, weights)

    def _n3(self, anchors: Tensor, relations: Tensor, weights: Tensor | None) -> Tensor:
        # Each entity is an anchor of the other direction: its turn comes without the answers.
        rows = self.relations.index_select(0, relations % len(self.relations))
        if weights is not None:  # the cube root of a weight is cubed along with the numbers
            roots = weights.pow(1 / 3).to(anchors)
            anchors = anchors * roots[:, None]
            rows = rows * roots.view(-1, *(1 for _ in rows.shape[1:]))
        return (self.cubes(anchors) + self.cubes(rows)) / len(anchors)

    def _free(self, anchors: Tensor, rows: Tensor) -> Tensor:
        """The vectors of anchors before they are placed; `rows` are those after."""
        return self._anchors(anchors)

    def cubes(self, vectors: Tensor) -> Tensor:
        """The cubed absolute values of the numbers of these vectors, summed."""
        return vectors.abs().pow(3).sum()

    def _drawn_entities(self, dim: int) -> nn.Parameter:  # (entity, dim)
        """The vectors of entities to start from: of all, or of those of this process."""
        if self.peers is None:
            return self.drawn(self.num_entities, dim)
        if torch.empty(0).is_meta:
            return nn.Parameter(torch.empty(self.num_rows, dim))
        drawn = self.peers.drawn(self.num_entities, dim)
        return nn.Parameter(drawn.mul_(self.settings.init_scale))

    def drawn(self, *shape: int) -> nn.Parameter:
        """A parameter with random numbers to start from."""
        # Where its shape alone is wanted, arithmetic would make torch import much.
        if torch.empty(0).is_meta or is_loading():
            return nn.Parameter(torch.empty(shape))
        return nn.Parameter(torch.randn(shape).mul_(self.settings.init_scale))


class DotModel(Embedding):
    """A score is a dot product; each direction of a relation has parameters of its own."""

    Settings = DotSettings
    geometry = Dot

    def _free(self, anchors: Tensor, rows: Tensor) -> Tensor:
        return rows  # nothing places them elsewhere

    def thinned(self, anchors: Tensor, entities: Tensor) -> tuple[Tensor, Tensor]:
        """Both ends of facts after dropout: in a product, an entity's takes the query's place."""
        settings = self.settings
        anchors = self.dropped(anchors, settings.anchor_dropout)
        return anchors, self.dropped(entities, settings.query_dropout)


def rows_and_all(table: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """`table[ids]` and `table`, for a step that needs both.

    Apart, either would have a gradient as large as the table, and autograd would add them; here
    the rows' gradient is added to the table's, which therefore must have no other owner.
    """
    rows, everything = _RowsAndAll.apply(table, ids)  # type: ignore[no-untyped-call]
    return rows, everything


class _RowsAndAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(ids)
        return table.index_select(0, ids), table.view_as(table)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, rows: Tensor, everything: Tensor) -> tuple[Tensor, None]:
        (ids,) = ctx.saved_tensors
        return everything.index_add_(0, ids, rows), None
