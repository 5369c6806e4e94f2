"""Quadratic forms of absolute differences, |q - e|^T W |q - e|, and their gradients, compiled.

A pair of a query and an entity takes half of dim^2 multiplications, and dim^2 for its gradients:
nothing that W multiplies can be shared with another pair. Two registers of entities go side by
side, so that a number of W that was read serves them all.

Results are equal bit for bit whatever the number of threads, as in `kernels.py`.
"""

# mypy: ignore-errors
# Numba checks the types here, in its own way.

import numpy as np
import torch
from numba import carray, cfunc, njit
from torch import Tensor
from torch.nn.functional import pad

from assent.geometry import threads
from assent.geometry.compiled import LOOP, F, floats, me, team
from assent.geometry.vectors import (
    LANES,
    apart,
    get,
    load,
    plus,
    put,
    spread,
    store,
    times,
    times_plus,
    total,
    towards,
)

WIDE = 2 * LANES  # entities of a strip, which lie side by side in each dimension
TASKS = 16  # partial sums of the queries' gradients
BLOCK = 4  # rows of W at a time


def forms(queries: Tensor, entities: Tensor, metric: Tensor, out: Tensor) -> None:
    """out[i, j] = z^T metric z, where z = |queries[i] - entities[j]|; the metric is symmetric."""
    lower = torch.tril(metric, -1).mul_(2) + torch.diag(metric.diagonal())
    (rows, dim), columns = queries.shape, len(entities)
    q, e, w = _padded(queries, entities, lower)
    pointers = (x.data_ptr() for x in (q, e, w, out))
    threads.run(_forms.address, *pointers, rows, columns, dim + -dim % LANES)


def gradients(
    queries: Tensor,
    entities: Tensor,
    metric: Tensor,
    slopes: Tensor,
    into_queries: Tensor,
    into_entities: Tensor,
) -> None:
    """The gradients of sum(slopes * forms): added to the queries' and to the entities'.

    Where two coordinates are equal, any slope between those of the two sides is right.
    """
    (rows, dim), columns = queries.shape, len(entities)
    q, e, w = _padded(queries, entities, 2 * metric)
    width = q.shape[1]
    partial = torch.zeros(TASKS, rows, width)
    ragged = width != dim
    out = into_entities.new_zeros(columns, width) if ragged else into_entities
    pointers = (x.data_ptr() for x in (q, e, w, slopes, partial, out))
    threads.run(_gradients.address, *pointers, rows, columns, width)
    into_queries += partial.sum(0)[:, :dim]
    if ragged:
        into_entities += out[:, :dim]


def _padded(queries: Tensor, entities: Tensor, metric: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """With zeros up to whole registers; the metric in blocks of rows, column by column."""
    ragged = -queries.shape[1] % LANES
    if ragged:
        queries, entities = pad(queries, (0, ragged)), pad(entities, (0, ragged))
        metric = pad(metric, (0, ragged, 0, ragged))
    width = queries.shape[1]
    blocks = metric.view(width // BLOCK, BLOCK, width).transpose(1, 2).contiguous()
    return queries, entities, blocks


@njit
def _lay(entities, first, size, dim, strip):
    """Entities side by side: strip[k * WIDE + lane]; lanes without an entity keep what they had."""
    for lane in range(size):
        for k in range(dim):
            put(strip, k * WIDE + lane, get(entities, (first + lane) * dim + k))


@njit
def _differences(queries, i, dim, strip, z):
    """z[k] = |query[k] - strip[k]|"""
    for k in range(dim):
        q = spread(get(queries, i * dim + k))
        store(z, k * WIDE, apart(q, load(strip, k * WIDE)))
        store(z, k * WIDE + LANES, apart(q, load(strip, k * WIDE + LANES)))


@njit
def _block(metric, at, z, count):
    """Four rows of the metric, which start at `at`, times z: its first `count` dimensions."""
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = spread(F(0))
    for j in range(count):
        x, y = load(z, j * WIDE), load(z, j * WIDE + LANES)
        w = spread(get(metric, at + BLOCK * j))
        a0, b0 = times_plus(w, x, a0), times_plus(w, y, b0)
        w = spread(get(metric, at + BLOCK * j + 1))
        a1, b1 = times_plus(w, x, a1), times_plus(w, y, b1)
        w = spread(get(metric, at + BLOCK * j + 2))
        a2, b2 = times_plus(w, x, a2), times_plus(w, y, b2)
        w = spread(get(metric, at + BLOCK * j + 3))
        a3, b3 = times_plus(w, x, a3), times_plus(w, y, b3)
    return a0, a1, a2, a3, b0, b1, b2, b3


@njit
def _form(metric, z, dim, near):
    """near (WIDE,): z^T V z, where V is lower triangular."""
    s, t = spread(F(0)), spread(F(0))
    for k in range(0, dim, BLOCK):
        a0, a1, a2, a3, b0, b1, b2, b3 = _block(metric, k * dim, z, k + BLOCK)
        at = k * WIDE
        s = times_plus(a0, load(z, at), s)
        t = times_plus(b0, load(z, at + LANES), t)
        s = times_plus(a1, load(z, at + WIDE), s)
        t = times_plus(b1, load(z, at + WIDE + LANES), t)
        s = times_plus(a2, load(z, at + 2 * WIDE), s)
        t = times_plus(b2, load(z, at + 2 * WIDE + LANES), t)
        s = times_plus(a3, load(z, at + 3 * WIDE), s)
        t = times_plus(b3, load(z, at + 3 * WIDE + LANES), t)
    store(near, 0, s)
    store(near, LANES, t)


@cfunc(LOOP, cache=True)
def _forms(arguments):
    a = carray(arguments, (7,))
    rows, columns, dim = a[4], a[5], a[6]
    queries = carray(floats(a[0]), (rows * dim,))
    entities = carray(floats(a[1]), (columns * dim,))
    metric = carray(floats(a[2]), (dim * dim,))
    out = carray(floats(a[3]), (rows * columns,))
    strip = np.zeros(dim * WIDE, np.float32)
    z = np.empty(dim * WIDE, np.float32)
    near = np.empty(WIDE, np.float32)
    for first in range(WIDE * me(), columns, WIDE * team()):
        size = min(WIDE, columns - first)
        _lay(entities, first, size, dim, strip)
        for i in range(rows):
            _differences(queries, i, dim, strip, z)
            _form(metric, z, dim, near)
            for lane in range(size):
                put(out, i * columns + first + lane, get(near, lane))


@njit
def _pull(x, y, k, a, b, q, strip, near, into_queries, i, into_strip):
    """One dimension: how the query and the entities of a strip pull at each other."""
    there = spread(get(q, i + k))
    at = k * WIDE
    t = towards(times(a, x), there, load(strip, at))
    u = towards(times(b, y), there, load(strip, at + LANES))
    put(into_queries, i + k, get(into_queries, i + k) + total(plus(t, u)))
    store(into_strip, at, plus(load(into_strip, at), t))
    store(into_strip, at + LANES, plus(load(into_strip, at + LANES), u))


@njit
def _pulls(metric, z, dim, queries, i, strip, near, into_queries, into_strip):
    """Adds the gradients of a query and a strip of entities; those of the entities negated."""
    x, y = load(near, 0), load(near, LANES)
    for k in range(0, dim, BLOCK):
        a0, a1, a2, a3, b0, b1, b2, b3 = _block(metric, k * dim, z, dim)
        _pull(x, y, k, a0, b0, queries, strip, near, into_queries, i, into_strip)
        _pull(x, y, k + 1, a1, b1, queries, strip, near, into_queries, i, into_strip)
        _pull(x, y, k + 2, a2, b2, queries, strip, near, into_queries, i, into_strip)
        _pull(x, y, k + 3, a3, b3, queries, strip, near, into_queries, i, into_strip)


@cfunc(LOOP, cache=True)
def _gradients(arguments):
    a = carray(arguments, (9,))
    rows, columns, dim = a[6], a[7], a[8]
    queries = carray(floats(a[0]), (rows * dim,))
    entities = carray(floats(a[1]), (columns * dim,))
    metric = carray(floats(a[2]), (dim * dim,))
    slopes = carray(floats(a[3]), (rows * columns,))
    partial = carray(floats(a[4]), (TASKS, rows * dim))
    out = carray(floats(a[5]), (columns * dim,))
    strip = np.zeros(dim * WIDE, np.float32)
    z = np.empty(dim * WIDE, np.float32)
    near = np.zeros(WIDE, np.float32)
    into_strip = np.empty(dim * WIDE, np.float32)
    strips = (columns + WIDE - 1) // WIDE
    for task in range(me(), TASKS, team()):
        for number in range(strips * task // TASKS, strips * (task + 1) // TASKS):
            first = number * WIDE
            size = min(WIDE, columns - first)
            _lay(entities, first, size, dim, strip)
            into_strip[:] = 0
            near[:] = 0
            for i in range(rows):
                for lane in range(size):
                    put(near, lane, get(slopes, i * columns + first + lane))
                _differences(queries, i, dim, strip, z)
                _pulls(metric, z, dim, queries, i * dim, strip, near, partial[task], into_strip)
            for lane in range(size):
                for k in range(dim):
                    at = (first + lane) * dim + k
                    put(out, at, get(out, at) - get(into_strip, k * WIDE + lane))
