"""Weighed sums of rows of a table, one sum for each bag of them, and their gradient, compiled."""

from typing import Any, NamedTuple

import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from assent.geometry import passes


class Bag(NamedTuple):
    """Which rows of a table are summed, and how much each counts."""

    offsets: Tensor  # (bag + 1,)
    rows: Tensor  # (bag's row,)
    amounts: Tensor  # (bag's row,)


def bag_sums(bag: Bag, table: Tensor) -> Tensor:  # -> (bag, dim)
    """The sum of the rows of each bag; the amounts have no gradient."""
    sums: Tensor = _Sums.apply(table, *bag)  # type: ignore[no-untyped-call]
    return sums


class _Sums(torch.autograd.Function):
    """Torch's own gradient takes several times as long as the sums."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, offsets: Tensor, rows: Tensor, amounts: Tensor) -> Tensor:
        ctx.save_for_backward(table, offsets, rows, amounts)
        return functional.embedding_bag(
            rows, table, offsets, mode="sum", per_sample_weights=amounts, include_last_offset=True
        )

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slopes: Tensor) -> tuple[Tensor, None, None, None]:
        table, offsets, rows, amounts = ctx.saved_tensors
        into = torch.zeros_like(table)
        slopes = slopes.contiguous()
        if passes.can_run(into) and passes.can_run(slopes) and passes.can_run(amounts):
            _spread(*(x.detach().numpy() for x in (offsets, rows, amounts, slopes, into)))
        else:
            bags = torch.repeat_interleave(offsets.diff())
            into.index_add_(0, rows, slopes[bags] * amounts[:, None])
        return into, None, None, None


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"}, error_model="numpy")
def _spread(  # type: ignore[no-untyped-def]
    offsets, rows, amounts, slopes, into
):
    for bag in range(len(offsets) - 1):
        given = slopes[bag]
        for place in range(offsets[bag], offsets[bag + 1]):
            row, amount = into[rows[place]], amounts[place]
            for k in range(len(row)):
                row[k] += amount * given[k]
