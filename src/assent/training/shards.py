"""Tables of entities in shards, a file for each process; any number of processes reads them back.

The shard of process `rank` of `size` has the rows of the entities rank, rank + size, ...: entity e
is its row e // size.
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from assent.core.legible import in_words
from assent.files.tensors import Piecewise, in_order
from assent.geometry import Peers
from assent.models.base import Model

BLOCK = 1 << 22  # numbers that are read or sent at a time, 16 MB


class Share(NamedTuple):
    """Which of the entities are meant: each `size`-th, from `rank` on."""

    rank: int
    size: int

    @classmethod
    def of(cls, peers: Peers) -> "Share":
        return cls(peers.rank, peers.size)


WHOLE = Share(0, 1)


def shard_path(weights: Path, share: Share) -> Path:
    """Where the shard of a process is, beside the place of a file that would have all of them."""
    return weights.with_name(f"{weights.stem}.{share.rank + 1}-of-{share.size}{weights.suffix}")


def read_shards(
    paths: Sequence[Path], tables: Collection[str], share: Share = WHOLE
) -> dict[str, Tensor]:
    """The tensors of a file in shards, in their order; of the `tables`, the rows of this share.

    What is no table stands in the first shard alone.
    """
    with safe_open(paths[0], framework="pt") as first:
        names = list(first.keys())
        found = {name: first.get_tensor(name) for name in names if name not in tables}
    return found | {name: _rows(paths, name, share) for name in names if name in tables}


def _rows(paths: Sequence[Path], name: str, share: Share) -> Tensor:
    """The rows of a table that belong to a share, read in blocks from all shards that have some."""
    shards = [_Shard(path, name) for path in paths]
    if any(not shard.fits(shards, rank) for rank, shard in enumerate(shards)):
        raise ValueError(f"shards of {name} that do not fit together")
    total = sum(shard.length for shard in shards)
    count = len(range(share.rank, total, share.size))
    rows = torch.empty(count, *shards[0].shape, dtype=shards[0].dtype)
    for rank, shard in enumerate(shards):
        if len(paths) == share.size and rank != share.rank:
            continue
        for start, block in shard.blocks():
            ids = rank + len(paths) * torch.arange(start, start + len(block))
            mine = ids % share.size == share.rank
            rows[ids[mine] // share.size] = block[mine]
    return rows


class ShardError(ValueError):
    """A file that is no shard; which one it is."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.path = path


class _Shard:
    """A table in one of the files."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        try:
            with safe_open(path, framework="pt") as file:
                part = file.get_slice(name)
                self.length, *self.shape = part.get_shape()
                self.dtype = part[:0].dtype
        except (OSError, SafetensorError) as error:
            raise ShardError(path, in_words(error)) from error

    def fits(self, all_shards: Sequence["_Shard"], rank: int) -> bool:
        """Whether it has the rows of its share of the entities, of the same kind as the others."""
        length = len(range(rank, sum(shard.length for shard in all_shards), len(all_shards)))
        first = all_shards[0]
        return (self.length, self.shape, self.dtype) == (length, first.shape, first.dtype)

    def blocks(self) -> Iterator[tuple[int, Tensor]]:
        """Its rows, some at a time, and the place of the first of them."""
        step = max(1, BLOCK // max(torch.Size(self.shape).numel(), 1))
        with safe_open(self.path, framework="pt") as file:
            part = file.get_slice(self.name)
            for start in range(0, self.length, step):
                yield start, part[start : start + step]


def gathered(table: Tensor, entities: int, peers: Peers) -> Iterator[Tensor]:
    """A table of all entities in blocks of rows, for the first process; the others get none.

    All processes go through it to the end, each with the rows that it has.
    """
    step = max(1, BLOCK // peers.size // max(table[0].numel() if len(table) else 1, 1))
    for start in range(0, -(-entities // peers.size), step):
        width = min(step, -(-entities // peers.size) - start)
        part = table.new_zeros(width, *table.shape[1:])
        mine = table[start : start + width]
        part[: len(mine)] = mine
        parts = peers.to_first(part)
        if parts is not None:
            rows = parts.transpose(0, 1).flatten(0, 1)
            yield rows[: entities - start * peers.size]


def pieces(model: Model, peers: Peers) -> dict[str, Piecewise]:
    """The weights of a model as they stand in its file; tables come to the first process in blocks.

    All processes go through all pieces, in this order.
    """
    state = {name: tensor.detach() for name, tensor in model.state_dict().items()}
    tables = {id(table) for table in model.entity_tables()}
    rows = {name for name, parameter in model.named_parameters() if id(parameter) in tables}
    found = {}
    for name in in_order({name: tensor.dtype for name, tensor in state.items()}):
        tensor = state[name]
        shape, parts = tuple(tensor.shape), iter([tensor])
        if name in rows:
            shape = (model.num_entities, *shape[1:])
            parts = gathered(tensor, model.num_entities, peers)
        found[name] = Piecewise(shape, tensor.dtype, parts)
    return found
