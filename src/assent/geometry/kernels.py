"""Manhattan distances of questions to entities, and their gradients, compiled.

Results are equal bit for bit whatever the number of threads: work is cut by fixed sizes, never
by the number of threads, and each task owns what it writes.
"""

# mypy: ignore-errors
# Numba checks the types here, in its own way.

import numpy as np
import torch
from numba import carray, cfunc, njit
from torch import Tensor

from assent.geometry import threads
from assent.geometry.compiled import LOOP, F, floats, me, team

TILE = 256  # entities at a time in distances: a row of sums stays in the nearest cache
STRIP = 128  # entities at a time in gradients: they and their gradients do
TASKS = 16  # partial sums of the questions' gradients

# Sums may be reordered, which makes them vectors; nothing assumes that numbers are finite.
_loops = njit(fastmath={"reassoc", "contract"}, error_model="numpy")


def distances(queries: Tensor, entities: Tensor, out: Tensor) -> None:
    """out[i, j] = sum over k of |queries[i, k] - entities[j, k]|."""
    (rows, dim), columns = queries.shape, len(entities)
    pointers = (queries.data_ptr(), entities.data_ptr(), out.data_ptr())
    threads.run(_distances.address, *pointers, rows, columns, dim)


def gradients(
    queries: Tensor, entities: Tensor, slopes: Tensor, into_queries: Tensor, into_entities: Tensor
) -> None:
    """The gradients of sum(slopes * distances): added to the queries', written to the entities'.

    Where two coordinates are equal the distance has a corner, and any slope between the two
    sides' is right; this takes that of the side where the question is the smaller one.
    """
    (rows, dim), columns = queries.shape, len(entities)
    partial = torch.zeros(TASKS, rows + 3, dim)  # questions go by fours
    pointers = (queries.data_ptr(), entities.data_ptr(), slopes.data_ptr(), partial.data_ptr())
    threads.run(_gradients.address, *pointers, into_entities.data_ptr(), rows, columns, dim)
    into_queries += 2 * partial.sum(0)[:rows] - slopes.sum(1, keepdim=True)


@_loops
def _fill_transposed(block, entities):
    for j in range(len(entities)):
        for k in range(entities.shape[1]):
            block[k, j] = entities[j, k]


@_loops
def _distances_to(block, queries, out):
    """Distances to a block of entities, whose coordinates lie side by side."""
    dim, size = queries.shape[1], out.shape[1]
    rows = np.zeros((2, dim + 3), np.float32)
    sums = np.empty((2, TILE), np.float32)
    p, q, s, t = rows[0], rows[1], sums[0], sums[1]
    for i in range(0, len(queries), 2):  # two questions share what is loaded
        other = min(i + 1, len(queries) - 1)
        p[:dim] = queries[i]
        q[:dim] = queries[other]
        sums[:] = 0
        for k in range(0, dim, 4):  # four dimensions share a load and a store of the sums
            b0, b1, b2, b3 = block[k], block[k + 1], block[k + 2], block[k + 3]
            p0, p1, p2, p3 = p[k], p[k + 1], p[k + 2], p[k + 3]
            q0, q1, q2, q3 = q[k], q[k + 1], q[k + 2], q[k + 3]
            for j in range(TILE):
                x0, x1, x2, x3 = b0[j], b1[j], b2[j], b3[j]
                s[j] += (abs(p0 - x0) + abs(p1 - x1)) + (abs(p2 - x2) + abs(p3 - x3))
                t[j] += (abs(q0 - x0) + abs(q1 - x1)) + (abs(q2 - x2) + abs(q3 - x3))
        out[i] = s[:size]
        out[other] = t[:size]


@_loops
def _pulls_of_four(block, mine, theirs, queries, i, w):
    """Adds up, both ways, the slopes of those four questions and entities where q > e."""
    last = len(queries) - 1
    i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    for k in range(queries.shape[1]):
        q0, q1, q2, q3 = queries[i, k], queries[i1, k], queries[i2, k], queries[i3, k]
        s0 = s1 = s2 = s3 = F(0)
        b, m = block[k], mine[k]
        for j in range(STRIP):
            x = b[j]
            a0 = w0[j] if q0 > x else F(0)
            a1 = w1[j] if q1 > x else F(0)
            a2 = w2[j] if q2 > x else F(0)
            a3 = w3[j] if q3 > x else F(0)
            s0 += a0
            s1 += a1
            s2 += a2
            s3 += a3
            m[j] += (a0 + a1) + (a2 + a3)
        theirs[i, k] += s0
        theirs[i + 1, k] += s1
        theirs[i + 2, k] += s2
        theirs[i + 3, k] += s3


@_loops
def _gradients_of(queries, entities, slopes, theirs, out):
    """The gradients between all questions and a block of entities."""
    dim, size = queries.shape[1], len(entities)
    block = np.zeros((dim, STRIP), np.float32)
    mine = np.zeros((dim, STRIP), np.float32)
    total = np.zeros(STRIP, np.float32)
    w = np.zeros((4, STRIP), np.float32)  # beyond the last question and entity it stays zero
    _fill_transposed(block, entities)
    for i in range(0, len(queries), 4):
        for n in range(4):
            w[n] = 0
            if i + n < len(queries):
                w[n, :size] = slopes[i + n]
                total += w[n]
        _pulls_of_four(block, mine, theirs, queries, i, w)
    # A slope counts with the sign of q - e: twice where q > e, less once everywhere.
    for j in range(size):
        for k in range(dim):
            out[j, k] = total[j] - F(2) * mine[k, j]


@cfunc(LOOP, cache=True)
def _distances(arguments):
    a = carray(arguments, (6,))
    rows, columns, dim = a[3], a[4], a[5]
    queries = carray(floats(a[0]), (rows, dim))
    entities = carray(floats(a[1]), (columns, dim))
    out = carray(floats(a[2]), (rows, columns))
    block = np.zeros((dim + 3, TILE), np.float32)
    for first in range(TILE * me(), columns, TILE * team()):
        part = slice(first, min(first + TILE, columns))
        _fill_transposed(block, entities[part])
        _distances_to(block, queries, out[:, part])


@cfunc(LOOP, cache=True)
def _gradients(arguments):
    a = carray(arguments, (8,))
    rows, columns, dim = a[5], a[6], a[7]
    queries = carray(floats(a[0]), (rows, dim))
    entities = carray(floats(a[1]), (columns, dim))
    slopes = carray(floats(a[2]), (rows, columns))
    partial = carray(floats(a[3]), (TASKS, rows + 3, dim))
    out = carray(floats(a[4]), (columns, dim))
    strips = (columns + STRIP - 1) // STRIP
    for task in range(me(), TASKS, team()):
        for strip in range(strips * task // TASKS, strips * (task + 1) // TASKS):
            part = slice(strip * STRIP, min((strip + 1) * STRIP, columns))
            _gradients_of(queries, entities[part], slopes[:, part], partial[task], out[part])
