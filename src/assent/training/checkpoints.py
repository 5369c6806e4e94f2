"""The state of a training on disk: complete or absent, and checked when it is read."""

import json
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
from assent.files.atomic import beside
from assent.files.checksums import digest, sealed, unsealed
from assent.files.guarding import refuse_special
from assent.files.runs import CHECKPOINTS
from assent.files.text import read_json

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


def save_checkpoint(
    folder: Path, position: Position, tensors: Mapping[str, Tensor], run: str = ""
) -> None:
    """Writes tensors, then the small file that vouches for them; removes those too old.

    `run` is a checksum of what the training is made of: only that training may take it up.
    """
    name = f"{position.epoch:05d}-{position.step:07d}"
    weights, voucher = folder / f"{name}.safetensors", folder / f"{name}.json"
    try:
        with beside(weights) as part:
            plain = {key: tensor.detach().contiguous().cpu() for key, tensor in tensors.items()}
            save_file(plain, part)
            content = {"sha256": digest(part), "run": run, "position": asdict(position)}
        with beside(voucher) as part:
            part.write_text(json.dumps(sealed(content)), encoding="utf-8")
    except (DataError, SafetensorError) as error:
        cause = error.__cause__ if isinstance(error, DataError) else error
        reason = getattr(cause, "strerror", None) or cause
        raise DataError(
            f"{weights}: cannot be written: {reason}; the checkpoint before it is whole, "
            "make room and run the same command again"
        ) from error
    for old in sorted(folder.glob("*.json"))[:-KEPT]:
        old.unlink()
        old.with_suffix(".safetensors").unlink(missing_ok=True)


def newest_checkpoint(
    folder: Path, run: str = ""
) -> tuple[Position, dict[str, Tensor], list[str]] | None:
    """The newest whole checkpoint, and a complaint about each damaged one passed over.

    Where all are damaged, an error says so. With `run`, those of another training are damaged.
    """
    complaints: list[str] = []
    for voucher in sorted(folder.glob("*.json"), reverse=True):
        weights = voucher.with_suffix(".safetensors")
        try:
            refuse_special(weights)
            content = unsealed(read_json(voucher), voucher)
            if digest(weights) != content["sha256"]:
                raise ValueError("its checksum is wrong")
            if run and content.get("run", run) != run:
                raise ValueError("it is of another training")
            position = Position(**content["position"])
            if voucher.stem != f"{position.epoch:05d}-{position.step:07d}":
                raise ValueError("its name is not that of its epoch and step")
            return position, load_file(weights), complaints
        except (OSError, ValueError, KeyError, TypeError, SafetensorError, DataError) as error:
            complaints.append(f"{weights}: damaged ({error}); going back to the one before it")
    if complaints:
        raise DataError(
            f"{folder}: no checkpoint is whole ({len(complaints)} damaged); put one back, or say "
            "--restart to train from the beginning"
        )
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
