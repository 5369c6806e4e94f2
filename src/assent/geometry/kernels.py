"""Manhattan distances of queries to entities, and their gradients, compiled.

Results are equal bit for bit whatever the number of threads: work is divided by fixed sizes,
never by the number of threads, and each task owns what it writes.
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
from assent.geometry.vectors import LANES, apart, get, load, plus, put, spread, store, towards

TILE = 32  # entities at a time in gradients: they and their gradients stay in the nearest cache
TASKS = 16  # partial sums of the queries' gradients


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
    sides' is right; this takes that of the side where the query is the greater one.
    """
    (rows, dim), columns = queries.shape, len(entities)
    ragged = -dim % LANES
    q = pad(queries, (0, ragged, 0, -rows % 4))  # queries go by fours
    e, out = (pad(x, (0, ragged)) if ragged else x for x in (entities, into_entities))
    partial = torch.zeros(TASKS, *q.shape)
    pointers = (x.data_ptr() for x in (q, e, slopes, partial, out))
    threads.run(_gradients.address, *pointers, rows, columns, dim + ragged)
    into_queries -= partial.sum(0)[:rows, :dim]
    if ragged:
        into_entities.copy_(out[:, :dim])


@njit
def _distances_of_four(queries, i, dim, strip, near):
    """near (4, LANES): from four queries to a strip of entities, coordinates side by side."""
    last = len(queries) - dim  # where fewer than four are left, the last one comes again
    a, b = i * dim, min((i + 1) * dim, last)
    c, d = min((i + 2) * dim, last), min((i + 3) * dim, last)
    s0 = s1 = s2 = s3 = spread(F(0))
    for k in range(dim):
        x = load(strip, k * LANES)
        s0 = plus(s0, apart(spread(get(queries, a + k)), x))
        s1 = plus(s1, apart(spread(get(queries, b + k)), x))
        s2 = plus(s2, apart(spread(get(queries, c + k)), x))
        s3 = plus(s3, apart(spread(get(queries, d + k)), x))
    store(near, 0, s0)
    store(near, LANES, s1)
    store(near, 2 * LANES, s2)
    store(near, 3 * LANES, s3)


@cfunc(LOOP, cache=True)
def _distances(arguments):
    a = carray(arguments, (6,))
    rows, columns, dim = a[3], a[4], a[5]
    queries = carray(floats(a[0]), (rows * dim,))
    entities = carray(floats(a[1]), (columns * dim,))
    out = carray(floats(a[2]), (rows * columns,))
    strip = np.zeros(dim * LANES, np.float32)
    near = np.empty(4 * LANES, np.float32)
    for first in range(LANES * me(), columns, LANES * team()):
        size = min(LANES, columns - first)
        for lane in range(size):
            for k in range(dim):
                put(strip, k * LANES + lane, get(entities, (first + lane) * dim + k))
        for i in range(0, rows, 4):
            _distances_of_four(queries, i, dim, strip, near)
            for n in range(min(4, rows - i)):
                for lane in range(size):
                    put(out, (i + n) * columns + first + lane, get(near, n * LANES + lane))


@njit
def _pulls_of_four(queries, a, into_queries, entities, k, into_entities, dim, w):
    """Adds up, both ways, how four queries and a tile of entities pull at each other.

    In LANES dimensions: those of the queries start at `a`, those of the entities at `k`.
    """
    b, c, d = a + dim, a + 2 * dim, a + 3 * dim
    q0, q1, q2, q3 = load(queries, a), load(queries, b), load(queries, c), load(queries, d)
    s0, s1 = load(into_queries, a), load(into_queries, b)
    s2, s3 = load(into_queries, c), load(into_queries, d)
    for j in range(len(entities) // dim):
        x = load(entities, j * dim + k)
        t0 = towards(spread(get(w, j)), x, q0)
        t1 = towards(spread(get(w, TILE + j)), x, q1)
        t2 = towards(spread(get(w, 2 * TILE + j)), x, q2)
        t3 = towards(spread(get(w, 3 * TILE + j)), x, q3)
        s0, s1, s2, s3 = plus(s0, t0), plus(s1, t1), plus(s2, t2), plus(s3, t3)
        pull = plus(plus(t0, t1), plus(t2, t3))
        store(into_entities, j * dim + k, plus(load(into_entities, j * dim + k), pull))
    store(into_queries, a, s0)
    store(into_queries, b, s1)
    store(into_queries, c, s2)
    store(into_queries, d, s3)


@njit
def _gradients_of_tile(queries, into_queries, entities, into_entities, dim, slopes, first):
    """The gradients between all queries and the entities from `first` on, a tile of them."""
    rows, columns = slopes.shape
    w = np.zeros(4 * TILE, np.float32)
    into_entities[:] = 0
    for i in range(0, rows, 4):
        for n in range(4):
            for j in range(len(entities) // dim):
                at = (i + n) * columns + first + j
                put(w, n * TILE + j, get(slopes, at) if i + n < rows else F(0))
        for k in range(0, dim, LANES):
            _pulls_of_four(queries, i * dim + k, into_queries, entities, k, into_entities, dim, w)


@cfunc(LOOP, cache=True)
def _gradients(arguments):
    a = carray(arguments, (8,))
    rows, columns, dim = a[5], a[6], a[7]
    fours = (rows + 3) // 4
    queries = carray(floats(a[0]), (4 * fours * dim,))
    entities = carray(floats(a[1]), (columns * dim,))
    slopes = carray(floats(a[2]), (rows, columns))
    partial = carray(floats(a[3]), (TASKS, 4 * fours * dim))
    out = carray(floats(a[4]), (columns * dim,))
    tiles = (columns + TILE - 1) // TILE
    for task in range(me(), TASKS, team()):
        for tile in range(tiles * task // TASKS, tiles * (task + 1) // TASKS):
            first = tile * TILE
            part = slice(first * dim, min(first + TILE, columns) * dim)
            _gradients_of_tile(
                queries, partial[task], entities[part], out[part], dim, slopes, first
            )
