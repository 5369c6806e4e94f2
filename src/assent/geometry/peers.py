"""Processes that share the entities: who has which row of a table, and what they tell each other.

Entity e is row e // size of process e % size. Whatever the order of the ids, each process then has
as many entities of many facts as any other. To be asked about them, and not trained, they are
dealt out in tiles of neighbours, `width` at a time, which a file has in one piece.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple, Self, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor
from torch.autograd.function import once_differentiable

from assent.errors import ConfigError, TrainingError
from assent.geometry.answers import Answers

LOST = (
    "another of the processes has ended or cannot be reached; give the same command again, and it "
    "goes on from what was saved"
)
BLOCK = 1 << 20  # numbers of a table that are drawn at a time, 4 MB

IdsOrTensor = TypeVar("IdsOrTensor", Tensor, Any)


class Routes(NamedTuple):
    """How the rows of some entities come to all processes."""

    places: Tensor  # (asked,)  of each entity, in what all processes send, one after another
    most: int  # rows that a process sends; one that has fewer sends zeros after them
    sent: Tensor  # (sent,)  the rows of this process that are asked for, each of them once
    mine: Tensor  # (mine,)  places among those asked for whose entity is here
    rows: Tensor  # (mine,)  their rows here


class Peers:
    """This process among those that share the entities, and what they do together.

    All processes call the same methods in the same order. Where one of them has ended, the others
    raise an error that says how to go on.
    """

    SIGNALS = 3  # numbers that travel with every sum

    def __init__(self, rank: int, size: int, device: torch.device | str = "cpu") -> None:
        self.rank, self.size = rank, size
        self.width = 1  # neighbouring entities that are dealt out together
        self.device = device  # where tensors must be to be sent
        self.signals = torch.zeros(self.SIGNALS)  # what this process has to say, with the next sum
        self.heard = torch.zeros(self.SIGNALS)  # what all had to say, added up
        self.ended: list[bool] = []  # not empty: the others are gone
        self.handed = 0  # bytes that this process gave to be sent to each of the others
        self.summed = 0  # bytes that this process gave to be added up

    def __repr__(self) -> str:
        return f"process {self.rank + 1} of {self.size}"

    @property
    def first(self) -> bool:
        """Whether this is the process that speaks for all."""
        return self.rank == 0

    def in_tiles(self, width: int) -> Self:
        """The same processes, to whom so many neighbours are dealt out at a time."""
        peers = copy(self)
        peers.width = width
        return peers

    def count(self, entities: int) -> int:
        """How many of the entities are here."""
        rounds, rest = divmod(entities, self.size * self.width)
        return rounds * self.width + min(max(rest - self.rank * self.width, 0), self.width)

    def owners_of(self, ids: IdsOrTensor) -> IdsOrTensor:
        """The processes that have these entities."""
        return ids // self.width % self.size

    def ids_of(self, rows: IdsOrTensor) -> IdsOrTensor:
        """The entities that have these rows here."""
        tiles = rows // self.width * self.size + self.rank
        return tiles * self.width + rows % self.width

    def mine(self, ids: IdsOrTensor) -> IdsOrTensor:
        """Which of these entities are here."""
        here: IdsOrTensor = self.owners_of(ids) == self.rank
        return here

    def rows_of(self, ids: IdsOrTensor, within: Tensor | None = None) -> IdsOrTensor:
        """The rows here of entities that are here; `within` (row,) are the entities of a sample."""
        if within is None:
            return ids // (self.width * self.size) * self.width + ids % self.width
        order = within.argsort()
        return order[torch.searchsorted(within[order], ids)]

    def answers(self, answers: Answers, within: Tensor | None = None) -> Answers:
        """Those of the answers that are here, by their rows."""
        here = self.mine(answers.ids)
        before = torch.cat([here.new_zeros(1, dtype=torch.int64), here.cumsum(0)])
        ids = self.rows_of(answers.ids[here], within)
        return Answers(before[answers.offsets], ids)

    def routes(self, ids: Tensor, within: Tensor | None = None) -> Routes:
        """To these entities; the same `ids` in all processes."""
        distinct, inverse = torch.unique(ids, return_inverse=True)
        owners = self.owners_of(distinct)
        order = owners.argsort(stable=True)
        counts = torch.bincount(owners, minlength=self.size)
        starts = (counts.cumsum(0) - counts)[owners[order]]
        place = torch.empty_like(owners)
        place[order] = torch.arange(len(owners), device=ids.device) - starts
        most = int(counts.max()) if len(ids) else 0
        sent = self.rows_of(distinct[self.mine(distinct)], within)
        mine = self.mine(ids).nonzero()[:, 0]
        rows = self.rows_of(ids[mine], within)
        return Routes((owners * most + place)[inverse], most, sent, mine, rows)

    def rows(self, table: Tensor, routes: Routes) -> Tensor:  # -> (asked, ...)
        """The rows of the entities asked for, each from the process that has it."""
        part = table.new_zeros(routes.most, *table.shape[1:])
        part[: len(routes.sent)] = table.detach()[routes.sent]
        return self.all_parts(part).flatten(0, 1)[routes.places]

    def rows_and_all(self, table: Tensor, routes: Routes) -> tuple[Tensor, Tensor]:
        """The rows asked for, and the table, for a step that needs both.

        The gradient of a row must be the same in all processes. The process that has the row adds
        it to that of its table, which therefore must have no other owner.
        """
        rows, everything = _RowsAndAll.apply(  # type: ignore[no-untyped-call]
            table, routes, self
        )
        return rows, everything

    def all_parts(self, part: Tensor) -> Tensor:  # -> (process, ...)
        """What each process gives, all of the same shape."""
        self.handed += part.nbytes
        parts = part.new_empty(self.size, *part.shape)
        with self._speaking():
            dist.all_gather(list(parts), part.contiguous())
        return parts

    def to_first(self, part: Tensor) -> Tensor | None:  # -> (process, ...)
        """What each process gives, all of the same shape, for the first process."""
        part = part.contiguous()
        parts = part.new_empty(self.size, *part.shape) if self.first else None
        with self._speaking():
            dist.gather(part, None if parts is None else list(parts))
        return parts

    def sum_(self, *tensors: Tensor) -> None:
        """Adds up what all processes have in these tensors, in place, all in one message."""
        like = tensors[0]
        packed = torch.cat([*(x.reshape(-1).to(like) for x in tensors), self.signals.to(like)])
        self.summed += packed.nbytes
        with self._speaking():
            dist.all_reduce(packed)
        sizes = [x.numel() for x in tensors]
        *sums, self.heard = torch.split(packed, [*sizes, self.SIGNALS])
        self.heard = self.heard.cpu()
        for tensor, total in zip(tensors, sums, strict=True):
            tensor.copy_(total.view_as(tensor))

    def hear(self) -> Tensor:
        """What all processes have to say, outside of a step."""
        self.sum_(torch.zeros(0, device=self.device))
        return self.heard

    def totals(self, totals: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """log of the sum of exp(score), and the score expected, (query,), of all candidates."""
        parts = self.all_parts(torch.stack([totals, targets]))
        return parts[:, 0].logsumexp(0), parts[:, 1].sum(0)

    def told(self, text: str, by: int = 0) -> str:
        """What one of the processes says, the first if no other is named."""
        length = torch.tensor([len(text.encode())], device=self.device)
        with self._speaking():
            dist.broadcast(length, by)
            said = torch.zeros(int(length), dtype=torch.uint8, device=self.device)
            if self.rank == by and len(said):
                said.copy_(torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8))
            dist.broadcast(said, by)
        return bytes(said.cpu().numpy()).decode()

    def as_first(self, tensors: Sequence[Tensor]) -> None:
        """Makes tensors that all processes have those of the first, to the last bit."""
        with self._speaking():
            for tensor in tensors:
                dist.broadcast(tensor, 0)

    def drawn(self, entities: int, *shape: int) -> Tensor:  # -> (row, ...)
        """The rows here of `torch.randn(entities, *shape)`, drawn in blocks of bounded memory."""
        width = torch.Size(shape).numel()
        mine = torch.empty(self.count(entities), *shape)
        # torch draws 16 numbers at a time, and the last 16 anew where they are not whole.
        step = max(16, BLOCK // max(width, 1) // 16 * 16) * self.size
        starts = [*range(0, max(entities - 16, 1), step), entities]
        for start, stop in pairwise(starts):
            block = torch.randn(stop - start, *shape)
            mine[start // self.size : (stop + self.size - 1 - self.rank) // self.size] = block[
                self.rank :: self.size
            ]
        return mine

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        if self.ended:
            raise ConfigError(
                "this model has the entities of one process of several; load the run from its "
                "folder"
            )
        try:
            yield
        except RuntimeError as error:
            raise TrainingError(f"{self}: {LOST}") from error


class _RowsAndAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, routes: Routes, peers: Peers) -> tuple[Tensor, Tensor]:
        ctx.routes = routes
        return peers.rows(table, routes), table.view_as(table)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, rows: Tensor, everything: Tensor) -> tuple[Tensor, None, None]:
        return everything.index_add_(0, ctx.routes.rows, rows[ctx.routes.mine]), None, None
