"""What every geometry can do: score a slice of the entities, and send gradients back."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from assent.geometry.answers import Places
from assent.geometry.links import Link

PAIRS = 1 << 14  # pairs whose vectors are gathered at a time: 16 MB of 256 dimensions


class Asked(NamedTuple):
    """Queries as vectors."""

    vectors: Tensor  # (query, dim)
    # What the geometry takes from the relation of each query, in the shape that it names: a row
    # for each query; or, with `owners`, a row for each slot.
    weights: Tensor | None = None
    owners: Tensor | None = None  # (query,)  int64: the row of `weights` that a query takes

    def at(self, rows: Tensor) -> Self:
        """Some of the queries, some of them perhaps twice."""
        if self.owners is not None:
            return type(self)(self.vectors[rows], self.weights, self.owners[rows])
        return type(self)(self.vectors[rows], None if self.weights is None else self.weights[rows])


class Table(NamedTuple):
    """Entities, or a slice of them, as vectors."""

    vectors: Tensor  # (entity, dim)
    bias: Tensor | None = None  # (entity,)

    def part(self, start: int, stop: int) -> Self:
        bias = None if self.bias is None else self.bias[start:stop]
        return type(self)(self.vectors[start:stop], bias)


class Geometry(ABC):
    """A batch of queries in front of one slice of the entity table.

    `measure` and `spread` speak of *raw* numbers, dot products or distances; the link turns a raw
    number into a score. No method ever makes a (query, entity, dim) tensor.
    """

    link: ClassVar[type[Link]]

    def __init__(self, asked: Asked, table: Table) -> None:
        self.asked = asked
        self.table = table

    @abstractmethod
    def measure(self, out: Tensor) -> None:
        """Writes the raw numbers, before any bias, into `out` (query, slice)."""

    @abstractmethod
    def spread(self, slopes: Tensor, asked: Asked, table: Table) -> None:
        """Sends d loss / d raw (query, slice) on to the vectors, weights and biases.

        The gradients of the queries are added to `asked`; those of the entities are written
        into `table`, a slice of the whole gradient, as each slice is met once.
        """

    def scores(self, out: Tensor | None = None) -> Tensor:  # -> (query, slice)
        """Scores as logits, higher is better."""
        if out is None:
            out = self.buffer()
        self.measure(out)
        if self.table.bias is not None:
            out += self.table.bias
        return self.link.logits_(out)

    def scores_in_tiles(self, width: int) -> Tensor:  # -> (query, slice)
        """Scores as logits, computed `width` entities at a time.

        The last bits of a product depend on its shape. So those of a score depend on the tile of
        its entity alone, and not on which tiles are here.
        """
        if len(self.table.vectors) <= width:
            return self.scores()
        out = self.buffer()
        for columns, met in self.tiles(width):
            out[:, columns] = met.scores()
        return out

    def tiles(self, width: int) -> Iterator[tuple[slice, Self]]:
        """The queries in front of `width` neighbouring entities at a time, and these as columns."""
        for start in range(0, len(self.table.vectors), width):
            columns = slice(start, start + width)
            yield columns, type(self)(self.asked, self.table.part(start, start + width))

    @classmethod
    def mean_scores(cls, meetings: Iterator[Self], count: int, width: int) -> Tensor:
        """The mean (query, slice) of the scores of `count` meetings of the same queries.

        All are in front of the same entities, and meet them in tiles.
        """
        total = next(meetings).scores_in_tiles(width)  # one more at a time: all take much memory
        for met in meetings:
            total += met.scores_in_tiles(width)
        return total.div_(count)

    @abstractmethod
    def measure_pairs(self) -> Tensor:  # -> (query,)
        """The raw number of each query and the entity in the same row, before any bias."""

    @abstractmethod
    def spread_pairs(self, slopes: Tensor) -> tuple[Asked, Tensor]:
        """The gradients of each row's query (vectors and weights) and entity (vector).

        `slopes` (query,) is d loss / d raw of the query and the entity in the same row.
        """

    @classmethod
    def measure_at(cls, asked: Asked, table: Table, places: Places) -> Tensor:  # -> (place,)
        """The raw numbers at single places of (query, entity), before any bias."""
        parts = [met.measure_pairs() for met, _ in cls._pairs_at(asked, table, places)]
        return torch.cat(parts) if parts else asked.vectors.new_empty(0)

    @classmethod
    def spread_at(
        cls, asked: Asked, table: Table, places: Places, slopes: Tensor, into: tuple[Asked, Table]
    ) -> None:
        """Sends d loss / d raw (place,) on: added to the gradients of vectors and weights."""
        into_asked, into_table = into
        for met, part in cls._pairs_at(asked, table, places):
            of_asked, of_entities = met.spread_pairs(slopes[part])
            rows, columns = places.rows[part], places.columns[part]
            into_asked.vectors.index_add_(0, rows, of_asked.vectors)
            if into_asked.weights is not None and of_asked.weights is not None:
                if asked.owners is None:
                    into_asked.weights.index_add_(0, rows, of_asked.weights)
                else:
                    into_asked.weights.add_(of_asked.weights)
            into_table.vectors.index_add_(0, columns, of_entities)

    @classmethod
    def _pairs_at(
        cls, asked: Asked, table: Table, places: Places
    ) -> Iterator[tuple["Geometry", slice]]:
        """Each query in the same row as its entity, a few at a time."""
        for start in range(0, len(places.rows), PAIRS):
            part = slice(start, start + PAIRS)
            rows, columns = places.rows[part], places.columns[part]
            yield cls(asked.at(rows), Table(table.vectors[columns])), part

    def pairs(self) -> Tensor:  # -> (query,)
        """The score of each query with the entity in the same row."""
        raw = self.measure_pairs()
        if self.table.bias is not None:
            raw += self.table.bias
        return self.link.logits_(raw)

    def buffer(self) -> Tensor:  # -> (query, slice), uninitialised
        vectors, shape = self.asked.vectors, (len(self.asked.vectors), len(self.table.vectors))
        if vectors.device.type == "cpu" and vectors.dtype == torch.float32:
            # numpy asks for large pages: a system clears a matrix in them in half of the time.
            return torch.from_numpy(np.empty(shape, np.float32))
        return torch.empty(shape, dtype=vectors.dtype, device=vectors.device)
