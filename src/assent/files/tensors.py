"""Files of safetensors: read whole, and written piece by piece where they fit no memory."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

import torch
from safetensors.torch import load_file
from torch import Tensor

from assent.files.guarding import parsing, refuse_special

# Kinds of numbers by their names in the format; those that stand last come first in a file.
KINDS = {"F16": torch.float16, "F32": torch.float32, "F64": torch.float64, "I64": torch.int64}
BLOCK = 1 << 22  # numbers that are looked at together, 16 MB
NAMES = {kind: name for name, kind in KINDS.items()}


def read_tensors(path: Path, expected: str = "tensors that assent wrote") -> dict[str, Tensor]:
    """All tensors of a file by name; whatever is wrong with it is one clear line.

    They are views of the file, of which only what is looked at is in memory. What is written to
    them stays in memory and never comes to the file; who replaces the file leaves them as they are.
    """
    refuse_special(path)
    with parsing(path, expected):
        return load_file(path)


def is_finite(tensor: Tensor) -> bool:
    """Whether all of its numbers are numbers, looked at a block at a time: torch copies each."""
    if not tensor.is_floating_point():
        return True
    flat = tensor.reshape(-1)
    starts = range(0, len(flat), BLOCK)
    return all(bool(flat[start : start + BLOCK].isfinite().all()) for start in starts)


class Piecewise(NamedTuple):
    """A tensor whose rows come in pieces."""

    shape: tuple[int, ...]
    kind: torch.dtype
    pieces: Iterable[Tensor]  # that, one after another, are the tensor

    @property
    def bytes(self) -> int:
        return torch.Size(self.shape).numel() * self.kind.itemsize


def in_order(names: Mapping[str, torch.dtype]) -> list[str]:
    """The order of tensors in a file: that of `safetensors.torch.save_file`."""
    kinds = list(KINDS.values())
    return sorted(names, key=lambda name: (-kinds.index(names[name]), name))


def write_tensors(path: Path, tensors: Mapping[str, Piecewise]) -> None:
    """Writes them, each asked for its pieces when its turn comes (`in_order`).

    The bytes are those that `safetensors.torch.save_file` writes.
    """
    header, start = {}, 0
    order = in_order({name: tensor.kind for name, tensor in tensors.items()})
    for name in order:
        tensor = tensors[name]
        header[name] = {
            "dtype": NAMES[tensor.kind],
            "shape": list(tensor.shape),
            "data_offsets": [start, start + tensor.bytes],
        }
        start += tensor.bytes
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            _write(file, tensors[name])


def _write(file: BinaryIO, tensor: Piecewise) -> None:
    for piece in tensor.pieces:
        file.write(piece.detach().cpu().contiguous().numpy().tobytes())
