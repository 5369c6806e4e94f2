"""`q . e + b`: the score is the dot product."""

from collections.abc import Iterator
from typing import Any, Self

import torch
from torch import Tensor

from assent.geometry import pairs, passes
from assent.geometry.answers import Places
from assent.geometry.base import Asked, Geometry, Table
from assent.geometry.links import Logistic

WIDTH = 16  # numbers in a register
LARGE = 1 << 18  # numbers, of a megabyte: below, the product takes no time


class Dot(Geometry):
    """Three matrix products a step: scores, and the gradients of either side."""

    link = Logistic

    def measure(self, out: Tensor) -> None:
        torch.mm(self.asked.vectors, self.table.vectors.T, out=out)

    def scores(self, out: Tensor | None = None) -> Tensor:  # -> (query, slice)
        """The bias comes with the product, not in a pass of its own."""
        if out is None:
            return self._product(_even(self.buffer())).contiguous()
        return self._product(out)

    def scores_in_tiles(self, width: int) -> Tensor:  # -> (query, slice)
        out = self.buffer()
        part = None if _is_even(out) else out.new_empty(len(out), width)
        for columns, met in self.tiles(width):
            if part is None:
                met._product(out[:, columns])
            else:  # while the processor has the tile at hand: a copy of all would take as long
                out[:, columns] = met._product(part[:, : len(met.table.vectors)])
        return out

    def _product(self, out: Tensor) -> Tensor:
        if self.table.bias is None:
            self.measure(out)
            return out
        return torch.addmm(self.table.bias, self.asked.vectors, self.table.vectors.T, out=out)

    @classmethod
    def mean_scores(cls, meetings: Iterator[Self], count: int, width: int) -> Tensor:
        """One matrix takes up all products, and the biases when it is copied at last."""
        out: Tensor | None = None
        bias: Tensor | None = None
        for met in meetings:
            vectors, first = met.asked.vectors / count, out is None
            if out is None:
                out = _even(met.buffer())
            for columns, tile in met.tiles(width):
                torch.addmm(
                    out[:, columns],
                    vectors,
                    tile.table.vectors.T,
                    beta=0 if first else 1,
                    out=out[:, columns],
                )
            if met.table.bias is not None:
                bias = met.table.bias if bias is None else bias + met.table.bias
        assert out is not None
        if bias is None:
            return out.contiguous()
        return torch.add(out, bias / count, out=out.new_empty(out.shape))

    def measure_pairs(self) -> Tensor:
        raw: Tensor = torch.linalg.vecdot(self.asked.vectors, self.table.vectors)
        return raw

    def spread_pairs(self, slopes: Tensor) -> tuple[Asked, Tensor]:
        slopes = slopes[:, None]
        return Asked(slopes * self.table.vectors), slopes * self.asked.vectors

    @classmethod
    def measure_at(cls, asked: Asked, table: Table, places: Places) -> Tensor:
        if not _loops_take(asked.vectors, table.vectors):
            return super().measure_at(asked, table, places)
        raw = asked.vectors.new_empty(len(places.rows))
        pairs.dots(*_arrays(asked.vectors, table.vectors, *places, raw))
        return raw

    @classmethod
    def spread_at(
        cls, asked: Asked, table: Table, places: Places, slopes: Tensor, into: tuple[Asked, Table]
    ) -> None:
        vectors = asked.vectors, table.vectors
        gradients = into[0].vectors, into[1].vectors
        if not _loops_take(*vectors, *gradients, slopes):
            super().spread_at(asked, table, places, slopes, into)
            return
        pairs.pulls(*_arrays(*vectors, *places, slopes, *gradients))

    def spread(self, slopes: Tensor, asked: Asked, table: Table) -> None:
        asked.vectors.addmm_(slopes, self.table.vectors)
        torch.mm(slopes.T, self.asked.vectors, out=table.vectors)


def _even(out: Tensor) -> Tensor:
    """A matrix of this shape whose rows start where registers do, if it is large.

    A product with ragged rows takes up to 1.7 times as long, more than to copy it afterwards.
    """
    if _is_even(out):
        return out
    rows, columns = out.shape
    return out.new_empty(rows, -(-columns // WIDTH) * WIDTH)[:, :columns]


def _is_even(out: Tensor) -> bool:
    """Whether a product may be written straight into this matrix."""
    return out.shape[1] % WIDTH == 0 or out.device.type != "cpu" or out.numel() < LARGE


def _loops_take(*tensors: Tensor) -> bool:
    return all(passes.can_run(tensor) for tensor in tensors)


def _arrays(*tensors: Tensor) -> list[Any]:
    return [tensor.detach().numpy() for tensor in tensors]
