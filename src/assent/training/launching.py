"""Processes of one command: those that a launcher started, and more that the first one starts.

They end together: where one fails or is killed, the others notice.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

import torch
import torch.distributed as dist

from assent.core.legible import first_line
from assent.errors import TrainingError
from assent.geometry import Peers
from assent.geometry.peers import LOST

HERE = "127.0.0.1"
LOOK, GRACE = 0.5, 10.0  # seconds between two looks at the other processes; until all must end
TORCHRUN = "TORCHELASTIC_RUN_ID"  # in the environment of what torchrun started
KILLED = (
    "torchrun, which started this process, has ended; give the same command again, and it goes on "
    "from what was saved"
)
FIRST = "ASSENT_FIRST"  # to the others: the id of the process that started them


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
def more_processes(count: int, words: Sequence[str]) -> Iterator[None]:
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
