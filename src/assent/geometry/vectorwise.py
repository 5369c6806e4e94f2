"""Dropout and cubed norms of a batch of vectors: one compiled pass, and one for the gradient.

Torch makes five to ten passes of either, which with few candidates are a tenth of a step.
"""

# mypy: ignore-errors
# Numba checks the types here, in its own way.

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable

from assent.geometry import passes

_pass = njit(nogil=True, cache=True, fastmath={"contract", "reassoc"}, error_model="numpy")
LEAST = 1e-12  # added to a squared modulus: the root has no slope at zero


def dropped(vectors: Tensor, share: float) -> Tensor:
    """Dropout from 16 random bits a number; torch's own draws ten times as slowly."""
    words = torch.empty(-(-vectors.numel() // 4), dtype=torch.int64, device=vectors.device)
    bits = words.random_(-(1 << 63), None).view(torch.int16)[: vectors.numel()]
    bits = bits.view(vectors.shape)
    lowest = round(share * (1 << 16)) - (1 << 15)
    if passes.can_run(vectors):
        return _Dropped.apply(vectors, bits, lowest, share)
    return vectors * (bits >= lowest).to(vectors.dtype).div_(1 - share)


def complex_cubes(vectors: Tensor) -> Tensor:  # (,)
    """The cubed moduli of complex numbers, summed: real parts in the first half of a vector."""
    if passes.can_run(vectors):
        return _Cubes.apply(vectors)
    return moduli(vectors).pow(3).sum()


def moduli(vectors: Tensor) -> Tensor:  # (vector, dim / 2)
    """The absolute values of complex numbers."""
    real, imaginary = vectors.chunk(2, dim=1)
    return (real**2 + imaginary**2 + LEAST).sqrt()


class _Dropped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, vectors: Tensor, bits: Tensor, lowest: int, share: float) -> Tensor:
        ctx.save_for_backward(bits)
        ctx.lowest, ctx.share = lowest, share
        return _kept(vectors, bits, lowest, share)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slopes: Tensor) -> tuple[Tensor | None, ...]:
        (bits,) = ctx.saved_tensors
        return _kept(slopes.contiguous(), bits, ctx.lowest, ctx.share), None, None, None


def _kept(vectors: Tensor, bits: Tensor, lowest: int, share: float) -> Tensor:
    out = torch.empty_like(vectors)
    arrays = (x.detach().view(-1).numpy() for x in (vectors, bits, out))
    _keep(*arrays, lowest, np.float32(1) / np.float32(1 - share))
    return out


@_pass
def _keep(vectors, bits, out, lowest, times):
    zero = np.float32(0)
    for i in range(len(vectors)):
        out[i] = vectors[i] * (times if bits[i] >= lowest else zero)


class _Cubes(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, vectors: Tensor) -> Tensor:
        ctx.save_for_backward(vectors)
        return torch.tensor(_cubes(vectors.detach().numpy(), LEAST), dtype=vectors.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor) -> Tensor:
        (vectors,) = ctx.saved_tensors
        out = torch.empty_like(vectors)
        numbers = vectors.detach().numpy(), np.float32(slope.item()), out.numpy()
        _cube_slopes(*numbers, np.float32(LEAST))
        return out


@_pass
def _cubes(vectors, least):
    half, total = vectors.shape[1] // 2, 0.0
    for row in vectors:
        cubes = np.float32(0)
        for k in range(half):
            real, imaginary = row[k], row[half + k]
            square = real * real + imaginary * imaginary + np.float32(least)
            cubes += square * np.sqrt(square)
        total += cubes
    return total


@_pass
def _cube_slopes(vectors, slope, out, least):
    half, three = vectors.shape[1] // 2, np.float32(3) * slope
    for i in range(len(vectors)):
        row, into = vectors[i], out[i]
        for k in range(half):
            real, imaginary = row[k], row[half + k]
            times = three * np.sqrt(real * real + imaginary * imaginary + least)
            into[k] = times * real
            into[half + k] = times * imaginary
