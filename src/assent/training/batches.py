"""The train facts as queries, in batches, in an order that only seed and epoch decide."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from assent.core.arrays import places_in
from assent.core.queries import Queries


class Batch(NamedTuple):
    """Queries with all their known answers."""

    anchors: Tensor  # (query,)
    relations: Tensor  # (query,)
    offsets: Tensor  # (query + 1,)
    answers: Tensor  # (answer,)


def num_batches(queries: Queries, batch_size: int, slots: int = 0) -> int:
    """How many an epoch has, whatever its order."""
    if not slots:
        return -(-len(queries) // batch_size)
    counts = np.bincount(queries.relations)
    parts = -(-counts // _part_size(batch_size, slots))
    return int(-(-parts.sum() // slots))


def batches(
    queries: Queries, batch_size: int, seed: int, epoch: int, start: int = 0, slots: int = 0
) -> Iterator[Batch]:
    """The batches of an epoch from number `start` on.

    Nothing is carried over from epoch to epoch, so that training goes on anywhere just as if it
    had never stopped. With `slots`, the queries of a batch have so many at most: the queries of
    each slot are cut into parts, and a batch joins `slots` parts that the order brings together.
    """
    order = np.random.default_rng([seed, epoch]).permutation(len(queries))
    for rows in _cut(queries, order, batch_size, slots)[start:]:
        # Ascending: equal relations stand together, as some encoders like it.
        yield batch_of(queries, np.sort(rows))


def _cut(queries: Queries, order: np.ndarray, batch_size: int, slots: int) -> list[np.ndarray]:
    """The rows of each batch."""
    if not slots:
        return [order[i : i + batch_size] for i in range(0, len(order), batch_size)]
    size = _part_size(batch_size, slots)
    of_row = queries.relations[order]
    by_slot = np.argsort(of_row, kind="stable")
    place = np.empty(len(order), dtype=np.int64)  # (row of the order,)  among those of its slot
    starts = np.searchsorted(of_row[by_slot], of_row)
    place[by_slot] = np.arange(len(order))
    part = (place - starts) // size
    # A part comes when the first of its queries does: the order of parts is as random as theirs.
    key = of_row.astype(np.int64) * len(order) + part
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    turn = np.empty(len(first), dtype=np.int64)
    turn[np.argsort(first)] = np.arange(len(first))
    batch = turn[inverse] // slots
    if not len(batch):
        return []
    ends = np.cumsum(np.bincount(batch))[:-1]
    return np.split(order[np.argsort(batch, kind="stable")], ends)


def _part_size(batch_size: int, slots: int) -> int:
    return max(batch_size // slots, 1)


def batch_of(queries: Queries, rows: np.ndarray) -> Batch:
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(queries.offsets[rows + 1] - queries.offsets[rows], out=offsets[1:])
    return Batch(
        torch.from_numpy(queries.anchors[rows].astype(np.int64)),
        torch.from_numpy(queries.relations[rows].astype(np.int64)),
        torch.from_numpy(offsets),
        torch.from_numpy(queries.answers[places_in(queries.offsets, rows)].astype(np.int64)),
    )


def suitable_epochs(num_queries: int) -> int:
    """From 30 where there are 60,000 queries or more, to 100 where there are 18,000 or fewer.

    An epoch of a small graph takes a second, and its model is far from done after thirty of them.
    """
    return 5 * round(min(max(1_800_000 / max(num_queries, 1), 30), 100) / 5)


def suitable_members(num_queries: int) -> int:
    """Four where there are 60,000 queries or more, else one.

    Steps of a large graph draw their candidates, so that four members take less time than one with
    all candidates did. A small graph takes all, and its one model is done in a minute.
    """
    return 4 if num_queries >= 60_000 else 1


def suitable_batch(num_queries: int) -> int:
    """A power of two from 64 to 512 that makes about a hundred steps an epoch.

    A small graph needs the steps more than large matrices; a large one has steps enough.
    """
    return int(2 ** round(math.log2(min(max(num_queries / 100, 64), 512))))
