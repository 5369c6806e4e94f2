"""The one elementwise pass over scores: bias, probability, loss and gradient while in a register.

Torch needs a pass for each of them. Where the compiled pass cannot run (no numba, another
device, another dtype), `links.py` takes torch's.
"""

from importlib import import_module
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from assent.geometry import threads

compiled: Any = None
if threads.available():  # else its loops could not ask which thread they are
    try:
        compiled = import_module("assent.geometry.compiled")
    except ImportError:  # numba is not installed here
        compiled = None


class Parts(NamedTuple):
    """The columns of a matrix in parts that do not count alike."""

    ends: tuple[int, ...]  # (part,)  the columns before which each ends; they ascend
    weights: tuple[float, ...]  # (part,)  how often a candidate of the part counts

    @classmethod
    def one(cls, columns: int) -> Self:
        """All columns, each of them once."""
        return cls((columns,), (1.0,))

    def by_column(self, like: Tensor) -> Tensor:  # (column,)
        """How often each column counts, with the dtype and on the device of `like`."""
        lengths = torch.tensor(self.ends).diff(prepend=torch.zeros(1, dtype=torch.int64))
        weights = torch.tensor(self.weights, dtype=like.dtype)
        return weights.repeat_interleave(lengths).to(like.device)


SMALL = 1 << 15  # cells that one thread is done with before another has woken up, as in torch


def can_run(raw: Tensor) -> bool:
    """Whether the compiled passes take this matrix."""
    return (
        compiled is not None
        and raw.device.type == "cpu"
        and raw.dtype == torch.float32
        and raw.is_contiguous()
    )


def refuse_logits(
    raw: Tensor,
    bias: Tensor | None,
    label: float,
    scale: float,
    columns: Tensor | None,
    parts: Parts,
) -> Tensor:
    """`Logistic.refuse_`, compiled."""
    bias = torch.zeros(raw.shape[1]) if bias is None else bias.detach().contiguous()
    sums = torch.zeros(compiled.TASKS, raw.shape[1])  # of the columns
    loss = _refuse(compiled.refuse_logits.address, raw, bias, (label, scale), parts, sums)
    if columns is not None:
        torch.sum(sums, 0, out=columns)
    return loss


def refuse_distances(raw: Tensor, near: float, label: float, scale: float, parts: Parts) -> Tensor:
    """`Tanh.refuse_`, compiled."""
    address = compiled.refuse_distances.address
    return _refuse(address, raw, torch.tensor([near]), (label, scale), parts)


def _refuse(
    address: int,
    raw: Tensor,
    extra: Tensor,
    label_and_scale: tuple[float, float],
    parts: Parts,
    *sums: Tensor,
) -> Tensor:
    losses = np.zeros(len(raw))  # one a row, so that the sum is the same for any number of threads
    numbers = np.array(label_and_scale)
    ends, weights = np.array(parts.ends, dtype=np.int64), np.array(parts.weights)
    threads.run(
        address,
        raw.data_ptr(),
        raw.shape[0],
        raw.shape[1],
        extra.data_ptr(),
        losses.ctypes.data,
        numbers.ctypes.data,
        len(ends),
        ends.ctypes.data,
        weights.ctypes.data,
        *(x.data_ptr() for x in sums),
        alone=raw.numel() < SMALL,
    )
    return torch.tensor(losses.sum())
