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


def num_batches(queries: Queries, batch_size: int) -> int:
    return -(-len(queries) // batch_size)


def batches(
    queries: Queries, batch_size: int, seed: int, epoch: int, start: int = 0
) -> Iterator[Batch]:
    """The batches of an epoch from number `start` on.

    Nothing is carried over from epoch to epoch, so that training goes on anywhere just as if it
    had never stopped.
    """
    order = np.random.default_rng([seed, epoch]).permutation(len(queries))
    for first in range(start * batch_size, len(order), batch_size):
        # Ascending: equal relations stand together, as some encoders like it.
        rows = np.sort(order[first : first + batch_size])
        yield batch_of(queries, rows)


def batch_of(queries: Queries, rows: np.ndarray) -> Batch:
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(queries.num_answers[rows], out=offsets[1:])
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


def suitable_batch(num_queries: int) -> int:
    """A power of two from 64 to 512 that makes about a hundred steps an epoch.

    A small graph needs the steps more than large matrices; a large one has steps enough.
    """
    return int(2 ** round(math.log2(min(max(num_queries / 100, 64), 512))))
