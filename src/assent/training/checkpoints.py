"""The state of a training on disk: complete or absent, and checked when it is read."""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.optim import Optimizer

from assent.errors import DataError
from assent.files.guarding import refuse_special

CHECKPOINTS = "checkpoints"  # in the folder of a run
STEPS = "steps"  # the part of a training that `minutes` bounds
KEPT = 2  # the newest and the one before it, should the newest turn out damaged


@dataclass(slots=True)
class Position:
    """How far a training has come; all that is not a tensor."""

    epoch: int = 0  # under way
    step: int = 0  # done in this epoch
    loss: float = 0.0  # summed over the steps of this epoch
    seconds: float = 0.0  # of the steps of this epoch
    processor_seconds: float = 0.0  # the same in processor time
    spent: float = 0.0  # seconds of all steps so far
    parts: dict[str, float] = field(default_factory=dict)  # seconds of each part of the training
    processor: float = 0.0  # seconds of processor time of all parts so far
    scores: list[float] = field(default_factory=list)  # evaluations so far
    best_epoch: int = 0
    trace_bytes: int = 0  # length of the trace: what comes after will be written again

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Counts the time of what is done within it."""
        clock, processor = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            seconds = time.perf_counter() - clock
            self.parts[part] = self.parts.get(part, 0.0) + seconds
            processor = time.process_time() - processor
            self.processor += processor
            if part == STEPS:
                self.seconds += seconds
                self.processor_seconds += processor
                self.spent += seconds

    def begin(self, epoch: int) -> None:
        """Moves to the start of an epoch."""
        self.epoch, self.step, self.loss = epoch, 0, 0.0
        self.seconds = self.processor_seconds = 0.0


def save_checkpoint(folder: Path, position: Position, tensors: Mapping[str, Tensor]) -> None:
    """Writes tensors, then the small file that vouches for them; removes those too old."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{position.epoch:05d}-{position.step:07d}"
    weights, voucher = folder / f"{name}.safetensors", folder / f"{name}.json"
    try:
        part = weights.with_suffix(".part")
        save_file(
            {key: tensor.detach().contiguous().cpu() for key, tensor in tensors.items()}, part
        )
        content = {"sha256": _sha256(part), "position": asdict(position)}
        _sync(part)
        part.replace(weights)
        part = voucher.with_suffix(".json.part")
        part.write_text(json.dumps(content), encoding="utf-8")
        _sync(part)
        part.replace(voucher)
    except (OSError, SafetensorError) as error:
        for leftover in folder.glob("*.part"):
            leftover.unlink(missing_ok=True)
        reason = getattr(error, "strerror", None) or error
        raise DataError(
            f"{weights}: cannot be written: {reason}; the checkpoint before it is whole, "
            "make room and run the same command again"
        ) from error
    for old in sorted(folder.glob("*.json"))[:-KEPT]:
        old.unlink()
        old.with_suffix(".safetensors").unlink(missing_ok=True)


def newest_checkpoint(
    folder: Path,
) -> tuple[Position, dict[str, Tensor], list[str]] | None:
    """The newest whole checkpoint, and a complaint about each damaged one passed over."""
    complaints: list[str] = []
    for voucher in sorted(folder.glob("*.json"), reverse=True):
        weights = voucher.with_suffix(".safetensors")
        try:
            for file in (voucher, weights):
                refuse_special(file)
            content = json.loads(voucher.read_text(encoding="utf-8"))
            if _sha256(weights) != content["sha256"]:
                raise ValueError("its checksum is wrong")
            return Position(**content["position"]), load_file(weights), complaints
        except (OSError, ValueError, KeyError, TypeError, SafetensorError, DataError) as error:
            complaints.append(f"{weights}: damaged ({error}); going back to the one before it")
    return None


def best_so_far(folder: Path) -> tuple[Position, dict[str, Tensor]] | None:
    """The best weights of a run folder's newest whole checkpoint, and how far it had come."""
    found = newest_checkpoint(folder / CHECKPOINTS)
    return None if found is None else (found[0], below("best/", found[1]))


def below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names start so, without that start."""
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def optimizer_state(optimizer: Optimizer) -> dict[str, Tensor]:
    """Its tensors by name: place/key."""
    state = optimizer.state_dict()["state"]
    return {f"{place}/{key}": x for place, values in state.items() for key, x in values.items()}


def load_optimizer(optimizer: Optimizer, tensors: Mapping[str, Tensor]) -> None:
    state = optimizer.state_dict()
    state["state"] = {}
    for name, tensor in tensors.items():
        place, key = name.split("/", 1)
        state["state"].setdefault(int(place), {})[key] = tensor
    optimizer.load_state_dict(state)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Down to the disk before the rename: a crash must not leave a name without its bytes."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
