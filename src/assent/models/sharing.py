"""The anchors' rows and the whole table, out of one node of autograd."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


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
