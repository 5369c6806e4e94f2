"""What every geometry can do: score a slice of the entities, and send gradients back."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple, Self

import torch
from torch import Tensor

from assent.geometry.links import Link


class Asked(NamedTuple):
    """Queries as vectors."""

    vectors: Tensor  # (query, dim)
    weights: Tensor | None = None  # (query, dim) or (query, 1)   only `Squared` has any


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

    @abstractmethod
    def measure_pairs(self) -> Tensor:  # -> (query,)
        """The raw number of each query and the entity in the same row, before any bias."""

    @abstractmethod
    def spread_pairs(self, slopes: Tensor) -> tuple[Asked, Tensor]:
        """The gradients of each row's query (vectors and weights) and entity (vector).

        `slopes` (query,) is d loss / d raw of the query and the entity in the same row.
        """

    def pairs(self) -> Tensor:  # -> (query,)
        """The score of each query with the entity in the same row."""
        raw = self.measure_pairs()
        if self.table.bias is not None:
            raw += self.table.bias
        return self.link.logits_(raw)

    def buffer(self) -> Tensor:  # -> (query, slice), uninitialised
        vectors = self.asked.vectors
        return torch.empty(
            len(vectors), len(self.table.vectors), dtype=vectors.dtype, device=vectors.device
        )
