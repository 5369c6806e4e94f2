"""A file of weights of which a process takes its portion: tables of entities are never read whole.

Tiles of neighbouring entities are dealt out in turn, and each is one piece of the file.
"""

import hashlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor

from assent.errors import DataError
from assent.files.guarding import parsing, refuse_special
from assent.files.runs import WEIGHTS
from assent.geometry import Peers

BLOCK = 1 << 22  # numbers that are read at a time, 16 MB


def read_portion(folder: Path, tables: Collection[str], peers: Peers) -> dict[str, Tensor]:
    """The weights of a run; of its `tables`, the rows of this process."""
    path = _path(folder)
    with parsing(path, "weights that assent wrote"), safe_open(path, framework="pt") as file:
        names = list(file.keys())
        weights = {
            name: _rows(file.get_slice(name), peers) if name in tables else file.get_tensor(name)
            for name in names
        }
    for name, tensor in weights.items():
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise DataError(f"{path}: {name} has weights that are no finite numbers; train again")
    return weights


def digest_of_weights(folder: Path, kind: str) -> str:
    """What `Model.digest` is of a model of this kind with all of these weights."""
    sha, path = hashlib.sha256(kind.encode()), _path(folder)
    with parsing(path, "weights that assent wrote"), safe_open(path, framework="pt") as file:
        for name in sorted(file.keys()):
            sha.update(name.encode())
            for block in _blocks(file, name):
                sha.update(block.contiguous().numpy().tobytes())
    return sha.hexdigest()


def _path(folder: Path) -> Path:
    path = folder / WEIGHTS
    refuse_special(path)
    if not path.is_file():
        raise DataError(f"{folder}: no {WEIGHTS}; train the run to its end first")
    return path


def _rows(part: Any, peers: Peers) -> Tensor:
    """The rows of this process, tile by tile."""
    count, *shape = part.get_shape()
    rows = torch.empty(peers.count(count), *shape, dtype=part[:0].dtype)
    step = peers.width * peers.size
    for place, start in enumerate(range(peers.rank * peers.width, count, step)):
        tile = part[start : min(start + peers.width, count)]
        rows[place * peers.width : place * peers.width + len(tile)] = tile
    return rows


def _blocks(file: Any, name: str) -> Iterator[Tensor]:
    """A tensor in pieces of bounded size."""
    part = file.get_slice(name)
    if not (shape := part.get_shape()):
        yield file.get_tensor(name)
        return
    step = max(1, BLOCK // max(torch.Size(shape[1:]).numel(), 1))
    for start in range(0, shape[0], step):
        yield part[start : start + step]
