"""Adam for a step that has gradients for some rows of a table alone, and leaves the others alone.

Adam moves a row also in the steps in which it has no gradient: its means of gradients fade, and
until they have faded it coasts on. Here that is made up for when the row is needed again
(`catch_up`), in one move: fading multiplies the ratio of the means by the same number in every
step, so that all of a row's steps add up to one number times that ratio. The rows are then those
of Adam on the whole table, but for rounding and for Adam's epsilon, which in the steps made up for
counts as much as in the first of them.
"""

# mypy: ignore-errors
# Numba checks the types here, in its own way.

import math
from typing import NamedTuple

import numpy as np
import torch
from numba import njit
from torch import Tensor

from assent.geometry import threads

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
FADING = BETA1 / BETA2**0.5  # of the ratio of the means, in a step without a gradient
WINDOW = 400  # steps after which a row stands still: FADING^400 < 1e-18
FEW = 1 << 15  # numbers that one thread is done with before another has woken up

_pass = njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")


class AdamRows(NamedTuple):
    """The means of a table's gradients, and how far each of its rows is."""

    means: Tensor  # (row, dim)
    squares: Tensor  # (row, dim)  means of the squared gradients
    steps: Tensor  # (row,)  int64: the step after which the row was as Adam on the whole has it
    coasts: Tensor  # (step + 1,)  float64: a row that is as after step s has moved on by
    #                 coasts[s] times the ratio of its means

    @classmethod
    def of(cls, table: Tensor) -> "AdamRows":
        """Before the first step."""
        steps = torch.zeros(len(table), dtype=torch.int64, device=table.device)
        return cls(
            torch.zeros_like(table),
            torch.zeros_like(table),
            steps,
            torch.zeros(1, dtype=torch.float64),
        )

    @property
    def done(self) -> int:
        """Steps so far."""
        return len(self.coasts) - 1

    def after_step(self, rate: float) -> "AdamRows":
        """With one more step of all rows at this learning rate; none of them is touched."""
        step = self.done + 1
        first = max(0, step - WINDOW)
        behind = torch.arange(step - first, 0, -1, dtype=torch.float64)
        coasts = torch.cat([self.coasts, torch.zeros(1, dtype=torch.float64)])
        coasts[first:step] += FADING**behind * _stride(rate, step)
        return self._replace(coasts=coasts)


def _stride(rate: float, step: int) -> float:
    """What the ratio of the means is multiplied by: the rate, corrected for the start."""
    return float(rate * (1 - BETA2**step) ** 0.5 / (1 - BETA1**step))


@torch.no_grad()
def catch_up(table: Tensor, adam: AdamRows, ids: Tensor) -> Tensor:  # -> (id, ...)
    """Brings these rows, each of them once in `ids`, to where they are now; returns a copy."""
    rows = table.new_empty(len(ids), *table.shape[1:])
    if _compiled_takes(table, adam):
        arrays = [x.detach().numpy() for x in (*_flat(table, adam), adam.steps, adam.coasts, ids)]
        out = _matrix(rows).numpy()

        def work(part: int, parts: int) -> None:
            _catch_up(*arrays, out, adam.done, *threads.share(len(ids), part, parts))

        _side_by_side(work, rows.numel())
        return rows
    wide = (-1, *[1] * (table.dim() - 1))
    last = adam.steps[ids]
    gaps = (adam.done - last).to(table.dtype).view(wide)
    behind = adam.coasts.to(table.device)[last].to(table.dtype).view(wide)
    means, squares = adam.means[ids], adam.squares[ids]
    # Before its first gradient a row has no means to coast on: nothing may be divided by zero.
    first = last.clamp(min=1).to(table.dtype).view(wide)
    epsilon = EPSILON * (1 - BETA2**first).sqrt()
    table[ids] -= (behind * means).div_(squares.sqrt().add_(epsilon))
    adam.means[ids] = means * BETA1**gaps
    adam.squares[ids] = squares * BETA2**gaps
    adam.steps[ids] = adam.done
    return torch.index_select(table, 0, ids, out=rows)


@torch.no_grad()
def move(table: Tensor, adam: AdamRows, ids: Tensor, slopes: Tensor, rate: float) -> None:
    """Moves these rows, which were caught up with, by their gradients (id, ...).

    `adam` counts this step already.
    """
    step = adam.done
    stride, epsilon = _stride(rate, step), EPSILON * (1 - BETA2**step) ** 0.5
    if _compiled_takes(table, adam) and slopes.is_contiguous():
        arrays = [x.detach().numpy() for x in (*_flat(table, adam), adam.steps, ids)]
        given = _matrix(slopes).numpy()

        def work(part: int, parts: int) -> None:
            numbers = np.float32(stride), np.float32(epsilon), step
            _step(*arrays, given, *numbers, *threads.share(len(ids), part, parts))

        _side_by_side(work, slopes.numel())
        return
    means = adam.means[ids].lerp_(slopes, 1 - BETA1)
    squares = adam.squares[ids].mul_(BETA2).addcmul_(slopes, slopes, value=1 - BETA2)
    table[ids] -= stride * means / squares.sqrt().add_(epsilon)
    adam.means[ids], adam.squares[ids], adam.steps[ids] = means, squares, step


def _compiled_takes(table: Tensor, adam: AdamRows) -> bool:
    return (
        table.device.type == "cpu"
        and table.dtype == torch.float32
        and table.is_contiguous()
        and adam.means.is_contiguous()
        and adam.squares.is_contiguous()
    )


def _flat(table: Tensor, adam: AdamRows) -> tuple[Tensor, ...]:
    return tuple(_matrix(x) for x in (table.detach(), adam.means, adam.squares))


def _matrix(table: Tensor) -> Tensor:
    """As (row, dim): a bias has one dimension."""
    return table.view(len(table), math.prod(table.shape[1:]))


def _side_by_side(work, numbers: int) -> None:
    """Rows do not depend on each other: results are the same for any number of threads."""
    if numbers < FEW:
        work(0, 1)
    else:
        threads.side_by_side(work)


@_pass
def _catch_up(table, means, squares, steps, coasts, ids, out, done, first, stop):
    for i in range(first, stop):
        row = ids[i]
        p, m, v = table[row], means[row], squares[row]
        last = steps[row]
        if last < done and last > 0:  # before its first gradient there is nothing to fade
            behind = np.float32(coasts[last])
            epsilon = np.float32(EPSILON * (1 - BETA2**last) ** 0.5)
            fade, fade_square = (
                np.float32(BETA1 ** (done - last)),
                np.float32(BETA2 ** (done - last)),
            )
            for k in range(len(p)):
                p[k] -= behind * m[k] / (np.sqrt(v[k]) + epsilon)
                m[k] *= fade
                v[k] *= fade_square
            steps[row] = done
        for k in range(len(p)):
            out[i, k] = p[k]


@_pass
def _step(table, means, squares, steps, ids, slopes, stride, epsilon, step, first, stop):
    keep, take = np.float32(BETA1), np.float32(1 - BETA1)
    keep_square, take_square = np.float32(BETA2), np.float32(1 - BETA2)
    for i in range(first, stop):
        row = ids[i]
        p, m, v, g = table[row], means[row], squares[row], slopes[i]
        for k in range(len(p)):
            mean = keep * m[k] + take * g[k]
            square = keep_square * v[k] + take_square * g[k] * g[k]
            m[k], v[k] = mean, square
            p[k] -= stride * mean / (np.sqrt(square) + epsilon)
        steps[row] = step
