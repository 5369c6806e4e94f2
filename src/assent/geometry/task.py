"""What a loss is asked for, and the entity table in slices, so that no matrix becomes large."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple, Self

import torch
from torch import Tensor

from assent.geometry.answers import Answers, Places
from assent.geometry.base import Asked, Geometry, Table
from assent.geometry.passes import Parts
from assent.geometry.peers import Peers

# Cells of the buffer. On a CPU long slices win, up to what malloc keeps for the next step instead
# of giving it back to the system: 28 MB of float32.
CELLS = {"cpu": 7 << 20, "cuda": 1 << 27}


class Drawn(NamedTuple):
    """How to read the table of a step that knows a sample of the entities.

    The entities are divided into strata. The first rows of the table were drawn: so many of the
    first stratum, each entity in it with the same probability, then so many of the second. The
    rows after them answer a query of the batch, and are no candidates of others.
    """

    numbers: tuple[int, ...]  # (stratum,)  drawn
    entities: tuple[float, ...]  # (stratum,)  for which those drawn stand, all together

    @property
    def number(self) -> int:
        """How many were drawn in all."""
        return sum(self.numbers)

    def parts(self, start: int, stop: int) -> Parts:
        """How many entities each row of a slice of those drawn stands for."""
        ends = (min(max(end, start), stop) - start for end in accumulate(self.numbers))
        drawn = zip(self.entities, self.numbers, strict=True)
        return Parts(tuple(ends), tuple(all_ / max(number, 1) for all_, number in drawn))


class Whole(NamedTuple):
    """What a process that has a share of the entities must know of all of them."""

    peers: Peers
    entities: int
    counts: Tensor  # (query,)  answers


@dataclass(frozen=True, slots=True)
class Slice:
    """All queries in front of some of the entities."""

    start: int  # the first of the entities
    meeting: Geometry
    buffer: Tensor  # (query, slice)
    answers: Places
    known: Places | None
    parts: Parts  # of the slice, by how often its candidates count


@dataclass(frozen=True, slots=True)
class Gradients:
    """Where the gradients of a batch are gathered, slice after slice."""

    asked: Asked  # starts at zero: every slice adds to it
    table: Table  # starts anyhow: every slice writes its part

    @classmethod
    def of(cls, asked: Asked, table: Table) -> Self:
        weights = None if asked.weights is None else torch.zeros_like(asked.weights)
        bias = None if table.bias is None else torch.empty_like(table.bias)
        return cls(
            Asked(torch.zeros_like(asked.vectors), weights),
            Table(torch.empty_like(table.vectors), bias),
        )

    def add(self, met: Slice, slopes: Tensor) -> None:
        """Sends d loss / d raw of this slice to the vectors and weights."""
        met.meeting.spread(slopes, self.asked, self.part(met))

    def part(self, met: Slice) -> Table:
        return self.table.part(met.start, met.start + met.buffer.shape[1])


@dataclass(frozen=True, slots=True)
class Task:
    """Whose answers a batch asks for, among which candidates, and what is a label."""

    geometry: type[Geometry]
    answers: Answers
    known: Answers | None = None
    smoothing: float = 0.0
    slice_size: int | None = None
    drawn: Drawn | None = None  # None: every row of the table is a candidate
    whole: "Whole | None" = None  # None: there are no entities but these

    @property
    def counts(self) -> Tensor:  # (query,)
        """How many answers each query has, here or in another process."""
        return self.answers.counts if self.whole is None else self.whole.counts

    def everywhere(self, table: Table) -> float:
        """The label of a candidate that is no answer."""
        entities = len(table.vectors) if self.drawn is None else sum(self.drawn.entities)
        return self.smoothing / max(entities if self.whole is None else self.whole.entities, 1)

    def totals(self, totals: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """log of the sum of exp(score), and the score expected, (query,), of all candidates."""
        if self.whole is None:
            return totals, targets
        return self.whole.peers.totals(totals, targets)

    def once(self, loss: Tensor) -> Tensor:
        """A loss that all processes know, to be counted once."""
        return loss if self.whole is None or self.whole.peers.first else torch.zeros_like(loss)

    def slices(self, asked: Asked, table: Table) -> Iterator[Slice]:
        """The candidates, slice after slice, in the same buffer."""
        answers = self.answers
        if self.drawn is not None:
            table, answers = table.part(0, self.drawn.number), answers.below(self.drawn.number)
        queries, entities = len(asked.vectors), len(table.vectors)
        size = self.slice_size or CELLS.get(asked.vectors.device.type, 1 << 22) // max(queries, 1)
        count = max(1, -(-entities // max(size, 1)))
        size = -(-entities // count)  # all about as long: no short rest
        starts = range(0, entities, max(size, 1))
        places = answers.cut(starts)
        masked = [None] * len(starts) if self.known is None else self.known.cut(starts)
        cells = asked.vectors.new_empty(queries * size)
        for start, here, out in zip(starts, places, masked, strict=True):
            part = table.part(start, start + size)
            width = len(part.vectors)
            buffer = cells[: queries * width].view(queries, width)
            counts = (
                Parts.one(width) if self.drawn is None else self.drawn.parts(start, start + width)
            )
            yield Slice(start, self.geometry(asked, part), buffer, here, out, counts)
