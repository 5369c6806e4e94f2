"""The state of a training on disk: complete or absent, and checked when it is read."""

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor
from torch.optim import Optimizer

from assent.core.legible import in_words, legible
from assent.errors import DataError
from assent.files.atomic import beside
from assent.files.checksums import digest, sealed, unsealed
from assent.files.guarding import refuse_special
from assent.files.places import CHECKPOINTS
from assent.files.tensors import is_finite, read_tensors
from assent.files.text import read_json
from assent.training.shards import WHOLE, ShardError, Share, read_shards, shard_path

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


class GoneError(DataError):
    """A file of a checkpoint that is not there."""


Found = tuple[Position, dict[str, Tensor], list[str]]  # and complaints
Fits = Callable[[Mapping[str, Tensor]], None]  # a ValueError for tensors of another training
MOST_WHOLE = 2**63  # of a number in a voucher; a larger one fits no float, or no file's length


def save_checkpoint(
    folder: Path, position: Position, tensors: Mapping[str, Tensor], run: str = ""
) -> None:
    """Writes tensors, then the small file that vouches for them; removes those too old.

    `run` is a checksum of what the training is made of: only that training may take it up.
    """
    vouch(folder, position, run, {"sha256": save_shard(folder, position, tensors, WHOLE)})


def save_shard(
    folder: Path, position: Position, tensors: Mapping[str, Tensor], share: Share
) -> str:
    """Writes the tensors of one process; returns their checksum, which is to be vouched for."""
    weights = folder / f"{_name(position)}.safetensors"
    path = weights if share == WHOLE else shard_path(weights, share)
    with _saying(path), beside(path, own=True) as part:
        plain = {key: tensor.detach().contiguous().cpu() for key, tensor in tensors.items()}
        save_file(plain, part)
        return digest(part)


def vouch(folder: Path, position: Position, run: str, sums: Mapping[str, Any]) -> None:
    """Writes what makes a checkpoint one: the checksums of its tensors, and how far it had come.

    Of tensors in shards, `sums` has the checksum of each of the `shards`, in their order, and which
    of the tensors are `tables` with a row an entity.
    """
    voucher = folder / f"{_name(position)}.json"
    with _saying(voucher), beside(voucher, own=True) as part:
        content = {**sums, "run": run, "position": asdict(position)}
        part.write_text(json.dumps(sealed(content)), encoding="utf-8")
    for old in vouchers(folder)[:-KEPT]:
        old.unlink()
    kept = {voucher.stem for voucher in vouchers(folder)}
    for old in folder.glob("*.safetensors"):  # also those of a training killed before it vouched
        if checkpoint_of(old) not in kept:
            old.unlink()


def checkpoint_of(weights: Path) -> str:
    """The name of the checkpoint that a file of tensors, or of a shard of them, belongs to."""
    return weights.name.partition(".")[0]


def _name(position: Position) -> str:
    return f"{position.epoch:05d}-{position.step:07d}"


@contextmanager
def _saying(path: Path) -> Iterator[None]:
    """Says of a file that cannot be written what is still there."""
    try:
        yield
    except (DataError, SafetensorError) as error:
        cause = error.__cause__ if isinstance(error, DataError) else error
        reason = getattr(cause, "strerror", None) or cause
        raise DataError(
            f"{path}: cannot be written: {reason}; the checkpoint before it is whole, "
            "make room and run the same command again"
        ) from error


def vouchers(folder: Path) -> list[Path]:
    """The small files that vouch for the checkpoints of a folder, the oldest first."""
    return sorted(folder.glob("*.json"))


def any_tensors(tensors: Mapping[str, Tensor]) -> None:
    """Fits whatever is there: for who only looks at a checkpoint."""


def read_checkpoint(
    voucher: Path,
    run: str = "",
    share: Share = WHOLE,
    tables: Collection[str] = (),
    fits: Fits = any_tensors,
) -> tuple[Position, dict[str, Tensor]]:
    """A checkpoint that is whole, by its voucher; with `run`, one of that training.

    `fits` looks at its tensors: their checksum says who wrote them last, not what for.

    A `share` has the rows of its entities alone, of the tensors that are `tables`; and of several
    processes, each checks the checksums of some of the shards.
    """
    weights = at = voucher.with_suffix(".safetensors")
    try:
        content = unsealed(read_json(voucher), voucher)
        if not isinstance(content, dict):
            raise ValueError("its voucher is of the wrong kind")
        sums, paths = [content.get("sha256")], [weights]
        if "shards" in content:
            sums, tables = list(content["shards"]), list(content["tables"])
            if len(sums) < 2:
                raise ValueError("its shards are not named")
            paths = [shard_path(weights, Share(rank, len(sums))) for rank in range(len(sums))]
        for path in paths:
            if not path.exists():
                raise GoneError(f"{path}: not there")
        for path, sha256 in list(zip(paths, sums, strict=True))[share.rank :: share.size]:
            at = path
            refuse_special(path)
            if digest(path) != sha256:
                raise ValueError("its checksum is wrong")
        at = voucher
        if run and content.get("run", run) != run:
            raise ValueError("it is of another training")
        position = _position(content["position"])
        if voucher.stem != _name(position):
            raise ValueError("its name is not that of its epoch and step")
        at = paths[0]
        if paths == [weights] and share == WHOLE:
            tensors = read_tensors(weights)
        else:
            tensors = read_shards(paths, tables, share)
        for name, tensor in tensors.items():
            if not is_finite(tensor):
                raise ValueError(f"{name} has numbers that are not")
        fits(tensors)
        return position, tensors
    except GoneError:
        raise
    except ShardError as error:
        raise DataError(f"{error.path}: damaged ({in_words(error)})") from error
    except (OSError, ValueError, KeyError, TypeError, SafetensorError, DataError) as error:
        raise DataError(f"{at}: damaged ({in_words(error)})") from error


def _position(given: Mapping[str, Any]) -> Position:
    """How far a training had come, by its voucher; a ValueError for values that none can have."""
    found = Position(**given)
    usual = asdict(Position())
    for name, value in asdict(found).items():
        numbers = value if isinstance(usual[name], list) else [value]
        if isinstance(usual[name], dict) and isinstance(value, dict):
            numbers = list(value.values())
        whole = isinstance(usual[name], int)
        if not isinstance(numbers, list) or not all(_is_number(x, whole) for x in numbers):
            raise ValueError(f"{name} is {value!r}"[:60])
    return found


def _is_number(value: object, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return False
    if isinstance(value, int) and abs(value) >= MOST_WHOLE:
        return False
    return not whole or value >= 0


def newest_checkpoint(folder: Path, run: str = "", fits: Fits = any_tensors) -> Found | None:
    """The newest whole checkpoint, and a complaint about each damaged one passed over.

    Where all are damaged, an error says so. Those of another training, by `run` or by the tensors
    that `fits` looks at, are damaged.
    """
    complaints: list[str] = []
    for voucher in reversed(vouchers(folder)):
        try:
            return *read_checkpoint(voucher, run, fits=fits), complaints
        except DataError as error:
            complaints.append(f"{error}; going back to the one before it")
    if complaints:
        raise DataError(
            f"{folder}: no checkpoint is whole ({len(complaints)} damaged); put one back, or say "
            "--restart to train from the beginning"
        )
    return None


def best_so_far(folder: Path) -> tuple[Position, dict[str, Tensor]] | None:
    """The best weights of a run folder's newest whole checkpoint, and how far it had come.

    A checkpoint without any has none that are better than its newest.
    """
    found = newest_checkpoint(folder / CHECKPOINTS)
    if found is None:
        return None
    return found[0], below("best/", found[1]) or below("model/", found[1])


def below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names start so, without that start."""
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def refuse_unlike(tensors: Mapping[str, Tensor], like: Mapping[str, Tensor], what: str) -> None:
    """A ValueError for tensors that differ from others in names, shapes or kinds of numbers."""
    for name in sorted(tensors.keys() ^ like.keys()):
        wrong = "is missing" if name in like else "belongs to nothing"
        raise ValueError(f"{what}{legible(name)[:60]} {wrong}")
    for name, tensor in tensors.items():
        if (tensor.shape, tensor.dtype) != (like[name].shape, like[name].dtype):
            raise ValueError(
                f"{what}{name} of shape {[*tensor.shape]}, {tensor.dtype}; "
                f"expected {[*like[name].shape]}, {like[name].dtype}"
            )


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
