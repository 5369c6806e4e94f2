"""A training of one process, or of several that share the entities: what they must agree on."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from assent.core.legible import first_line
from assent.core.processors import processors
from assent.errors import ConfigError, DataError, TrainingError
from assent.geometry import Peers
from assent.geometry.peers import LOST
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
HERE = "127.0.0.1"
LOOK, GRACE = 0.5, 10.0  # seconds between two looks at the other processes; until all must end
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
TORCHRUN = "TORCHELASTIC_RUN_ID"  # in the environment of what torchrun started
KILLED = (
    "torchrun, which started this process, has ended; give the same command again, and it goes on "
    "from what was saved"
)
FIRST = "ASSENT_FIRST"  # to the others: the id of the process that started them


class Alone:
    """One process, which agrees with itself."""

    first = True

    def say(self, stop: bool, save: bool, over: bool) -> None:
        """Before a step: what this process wants."""

    def heard(self, signal: int, mine: bool) -> bool:
        """After a step: what all processes want."""
        return mine

    def agreed(self, signal: int, mine: bool) -> bool:
        """The same at any time."""
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
        """The same in all processes, so that what they all compute is the same to the bit."""
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


def _import_apart() -> None:
    """Imports what keeps the group that it finds, and so its threads, to the end of the process.

    torch.distributed.nn has the group of that moment as default of its functions, and optimizers
    import it. A group that is kept has threads when Python ends, and some of them abort then.
    """
    joined, dist.group.WORLD = dist.group.WORLD, None
    try:
        import_module("torch.distributed.nn")
    finally:
        dist.group.WORLD = joined


@contextmanager
def launched() -> Iterator[Peers | None]:
    """The processes that torchrun, or another launcher, started together; None: there is one."""
    size = int(os.environ.get("WORLD_SIZE", 1)) if "RANK" in os.environ else 1
    if size <= 1:
        yield None
        return
    _import_apart()
    if dist.is_initialized():  # by the launcher, as Ray does; it ends it, too
        yield Peers(dist.get_rank(), dist.get_world_size())
        return
    backend = "gloo"
    if torch.cuda.is_available():
        backend = "cpu:gloo,cuda:nccl"
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
    try:
        dist.init_process_group(backend)
    except (RuntimeError, ValueError) as error:
        place = ":".join(os.environ.get(f"MASTER_{part}", "?") for part in ("ADDR", "PORT"))
        rank = int(os.environ["RANK"])
        who = f"process {rank + 1} of {size}"
        if rank == 0 and "EADDRINUSE" in str(error):  # it is the one that others come to
            raise TrainingError(
                f"{who}: the port {place} is taken by another program; choose another as "
                "MASTER_PORT, the same for all processes"
            ) from error
        raise TrainingError(
            f"{who}: cannot reach the others at {place} ({first_line(error)})"
        ) from error
    peers = Peers(dist.get_rank(), dist.get_world_size())
    try:
        yield peers
    finally:
        peers.ended.append(True)
        dist.destroy_process_group()


@contextmanager
def workers(count: int, words: Sequence[str]) -> Iterator[None]:
    """Starts more processes of this command on this machine, which is the first of `count`.

    They are started as torchrun would. If this process fails, the others end with it. Whether so
    many may be is for the caller to know.
    """
    if "RANK" in os.environ or count == 1:  # started by a launcher, which decides
        if first := os.environ.get(FIRST):
            threading.Thread(target=_end_with, args=(int(first),), daemon=True).start()
        elif TORCHRUN in os.environ:
            threading.Thread(target=_end_with_torchrun, args=(os.getppid(),), daemon=True).start()
        yield
        return
    store = dist.TCPStore(  # type: ignore[attr-defined]
        HERE, 0, count, is_master=True, wait_for_workers=False
    )
    shared = {
        "MASTER_ADDR": HERE,
        "MASTER_PORT": str(store.port),
        "WORLD_SIZE": str(count),
        "LOCAL_WORLD_SIZE": str(count),
        "TORCHELASTIC_USE_AGENT_STORE": "True",  # the store is here already
        "TORCHELASTIC_RESTART_COUNT": "0",
    }
    command = [sys.executable, "-m", "assent", *words]
    others: list[subprocess.Popen[bytes]] = []
    before, done = dict(os.environ), threading.Event()
    try:
        for rank in range(1, count):
            mine = {**os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
            mine[FIRST] = str(os.getpid())
            # In a group of their own: Ctrl-C is for the first, which tells the others.
            others.append(subprocess.Popen(command, env=mine, start_new_session=True))
        os.environ.update({**shared, "RANK": "0", "LOCAL_RANK": "0"})
        threading.Thread(target=_watch, args=(others, done), daemon=True).start()
        yield
        for other in others:
            other.wait()
    finally:
        done.set()
        os.environ.clear()
        os.environ.update(before)
        for other in others:
            other.kill()
            other.wait()


def _end_with(first: int) -> None:
    """Ends this process where the first, which started it, has ended before they have met."""
    while os.getppid() == first:
        time.sleep(LOOK)
    time.sleep(GRACE)  # one that has met the others notices by itself, and says so
    os._exit(2)


def _end_with_torchrun(parent: int) -> None:
    """Ends this process where torchrun, which started it, was killed: nobody else would notice."""
    while os.getppid() == parent:
        time.sleep(LOOK)
    if os.environ.get("LOCAL_RANK") == "0":
        print(f"assent: {KILLED}", file=sys.stderr, flush=True)
    os._exit(2)


def _watch(others: Sequence[subprocess.Popen[bytes]], done: threading.Event) -> None:
    """Ends this process where another has failed and nobody noticed, as before they have met."""
    while not done.wait(LOOK):
        if any(other.poll() for other in others):
            if done.wait(GRACE):
                return
            print(f"assent: {LOST}", file=sys.stderr, flush=True)
            for other in others:
                other.kill()
            os._exit(2)
