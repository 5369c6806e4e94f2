"""A training of one process, or of several that share the entities: what they must agree on."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from assent.core.processors import processors
from assent.errors import ConfigError, DataError
from assent.geometry import Peers
from assent.models.base import Model
from assent.models.embedding import DotModel, Embedding
from assent.models.members import Members
from assent.models.transa import TransA
from assent.training.checkpoints import (
    Fits,
    Found,
    Position,
    any_tensors,
    newest_checkpoint,
    read_checkpoint,
    save_checkpoint,
    save_shard,
    vouch,
    vouchers,
)
from assent.training.optimizers import Optimizing
from assent.training.shards import Share

STOP, SAVE, OVER = range(Peers.SIGNALS)  # someone was asked to stop; time to save; time is up
# What a model must leave as `Embedding` has it, for several processes to share its entities.
MEETING = (
    *(
        "loss",
        "terms",
        "relation_loss",
        "vectors_of",
        "biases_of",
        "ask",
        "_anchors",
        "entity_table",
    ),
    *("entity_tables", "tables", "only", "meeting", "scores", "pairs", "n3", "_drawn_entities"),
)


class Alone:
    """One process, which agrees with itself."""

    first = True

    def say(self, stop: bool, save: bool, over: bool) -> None:
        """Before a step: what this process wants."""

    def heard(self, signal: int, mine: bool) -> bool:
        """After a step: what all processes want."""
        return mine

    def agreed(self, signal: int, mine: bool) -> bool:
        """At any time: what all processes want, once each has said what it wants."""
        return mine

    def threads(self, most: int) -> int:
        """How many a process may use."""
        return most

    def settle(self, model: Model) -> None:
        """Before an epoch."""

    def save(
        self, folder: Path, position: Position, tensors: Mapping[str, Tensor], run: str
    ) -> None:
        save_checkpoint(folder, position, tensors, run)

    def newest(self, folder: Path, run: str, fits: Fits = any_tensors) -> Found | None:
        return newest_checkpoint(folder, run, fits)


class Together(Alone):
    """One of several processes; the first of them speaks for all."""

    def __init__(self, peers: Peers, tables: Sequence[str]) -> None:
        self.peers = peers
        self.first = peers.first
        self.tables = tables  # names of tensors of a checkpoint that have a row an entity

    def say(self, stop: bool, save: bool, over: bool) -> None:
        # Clocks differ: what is a matter of time, the first decides.
        said = [stop, save and self.first, over and self.first]
        self.peers.signals = torch.tensor(said, dtype=torch.float32)

    def heard(self, signal: int, mine: bool) -> bool:
        return bool(self.peers.heard[signal] > 0)

    def agreed(self, signal: int, mine: bool) -> bool:
        self.say(*(mine and place == signal for place in range(Peers.SIGNALS)))
        self.peers.hear()
        return self.heard(signal, mine)

    def threads(self, most: int) -> int:
        """As many in all processes, so that what they all compute is the same to the bit."""
        return _threads(self.peers, most)

    def settle(self, model: Model) -> None:
        """Machines of other kinds may round in other ways: what all have is made the same again."""
        tables = {id(table) for table in model.entity_tables()}
        shared = [x for x in (*model.parameters(), *model.buffers()) if id(x) not in tables]
        self.peers.as_first([x.detach() for x in shared])

    def save(
        self, folder: Path, position: Position, tensors: Mapping[str, Tensor], run: str
    ) -> None:
        """Each process writes its shard; when all have, the first vouches for them."""
        mine = tensors
        if not self.first:
            mine = {name: tensors[name] for name in self.tables if name in tensors}
        sha256 = save_shard(folder, position, mine, Share.of(self.peers))
        sums = self.peers.all_parts(torch.frombuffer(bytearray.fromhex(sha256), dtype=torch.uint8))
        if self.first:
            shards = [bytes(each.numpy()).hex() for each in sums]
            vouch(folder, position, run, {"shards": shards, "tables": list(self.tables)})

    def newest(self, folder: Path, run: str, fits: Fits = any_tensors) -> Found | None:
        """The newest checkpoint that is whole for all processes, whatever number wrote it."""
        complaints: list[str] = []
        there = [voucher.name for voucher in reversed(vouchers(folder))]
        for name in json.loads(self.peers.told(json.dumps(there))):
            found, complaint = None, ""
            try:
                found = read_checkpoint(folder / name, run, Share.of(self.peers), self.tables, fits)
            except DataError as error:
                complaint = str(error)
            wrong = self.peers.all_parts(torch.tensor([bool(complaint)])).flatten()
            if found is not None and not wrong.any():
                return *found, complaints
            finder = int(wrong.nonzero()[0, 0])
            # Each process looks at some of the shards: who found the damage can name it.
            complaint = self.peers.told(complaint, finder)
            complaints.append(f"{complaint}; going back to the one before it")
        if complaints:
            raise DataError(
                f"{folder}: no checkpoint is whole ({len(complaints)} damaged); put one back, or "
                "say --restart to train from the beginning"
            )
        return None


def share_threads(peers: Peers) -> None:
    """Has torch use as many threads as each process has processors for, the same in all."""
    torch.set_num_threads(_threads(peers, torch.get_num_threads()))


def _threads(peers: Peers, most: int) -> int:
    share = max(1, processors() // int(os.environ.get("LOCAL_WORLD_SIZE", 1)))
    return int(peers.all_parts(torch.tensor([min(most, share)])).min())


def company_of(model: Model, tables: Sequence[str]) -> Alone:
    """The processes that train a model."""
    return Alone() if model.peers is None else Together(model.peers, tables)


def table_names(model: Model) -> list[str]:
    """The names of the parameters that have a row an entity."""
    tables = {id(table) for table in model.entity_tables()}
    return [name for name, parameter in model.named_parameters() if id(parameter) in tables]


def tables_in_checkpoint(model: Model, optimizer: Optimizing) -> list[str]:
    """The names of the tensors of a checkpoint that have a row an entity."""
    names = [f"{part}/{name}" for part in ("model", "best") for name in table_names(model)]
    return names + [f"optimizer/{name}" for name in optimizer.tables_in_state()]


def refuse_unshared(model: Any) -> None:
    """Raises an error for a model whose entities several processes cannot share."""
    for each in model if isinstance(model, Members) else [model]:
        if not isinstance(each, Embedding):
            raise ConfigError(f"{type(each).__name__}: is made by one process; leave out --workers")
        kind = type(each)
        own = [name for name in MEETING if not _as_in_base(kind, name)]
        own += ["derive"] if kind.derive not in (Embedding.derive, TransA.derive) else []
        if own:
            raise ConfigError(
                f"{kind.__name__}: meets the entities in its own way ({', '.join(own)}), which "
                "several processes cannot share; leave out --workers"
            )
        if (peers := each.peers) is None:
            continue
        if -(-each.num_entities // peers.width) < peers.size:
            tiles = f", dealt out {peers.width} at a time" if peers.width > 1 else ""
            raise ConfigError(
                f"{peers.size} processes, but {each.num_entities} entities{tiles}; start "
                f"{-(-each.num_entities // peers.width)} at most"
            )


def _as_in_base(kind: type, name: str) -> bool:
    return any(getattr(kind, name) is getattr(base, name) for base in (Embedding, DotModel))
