"""The queries of each slot, for geometries in which a slot changes the entities."""

from collections.abc import Iterator

import torch
from torch import Tensor

Rows = slice | Tensor


def groups(owners: Tensor) -> Iterator[tuple[int, Rows]]:
    """Each owner with its rows: a slice where they stand together, as in a training step."""
    rising = bool((owners[1:] >= owners[:-1]).all())
    order = None if rising else owners.argsort(stable=True)
    present, counts = torch.unique_consecutive(
        owners if order is None else owners[order], return_counts=True
    )
    start = 0
    for owner, count in zip(present.tolist(), counts.tolist(), strict=True):
        part = slice(start, start + count)
        yield owner, part if order is None else order[part]
        start += count
