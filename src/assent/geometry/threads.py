"""Compiled loops on torch's own threads.

Numba's threads and torch's would fight for the same cores: an OpenMP worker keeps spinning for
milliseconds after its work is done, longer than a whole pass over a slice takes. So a compiled
loop is handed to the very OpenMP runtime that torch is linked with, and its team does both.
"""

import ctypes
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch

Result = TypeVar("Result")

THREAD = "assent_omp_get_thread_num"
THREADS = "assent_omp_get_num_threads"


def _runtime() -> ctypes.CDLL | None:
    """The OpenMP runtime behind torch: symbols are looked up in torch's library and below it."""
    folder = Path(torch.__file__).parent / "lib"
    for path in sorted(folder.glob("libtorch_cpu.*")):
        try:
            library = ctypes.CDLL(str(path))
            _ = library.GOMP_parallel, library.omp_get_thread_num, library.omp_get_num_threads
        except (OSError, AttributeError):
            continue
        return library
    return None


_openmp = _runtime()


def available() -> bool:
    """Whether torch computes with OpenMP here, and lets us in."""
    return _openmp is not None


def symbols() -> dict[str, int]:
    """The names by which a compiled loop asks which thread of how many it is, with addresses."""
    if _openmp is None:
        return {}
    return {
        THREAD: ctypes.cast(_openmp.omp_get_thread_num, ctypes.c_void_p).value or 0,
        THREADS: ctypes.cast(_openmp.omp_get_num_threads, ctypes.c_void_p).value or 0,
    }


def run(address: int, *arguments: int, alone: bool = False) -> None:
    """Calls the compiled `void f(int64*)` at this address once in each of torch's threads.

    Or `alone`, in this thread, where the work is too small to wake the others.
    """
    assert _openmp is not None
    packed = np.array(arguments, dtype=np.int64)
    _openmp.GOMP_parallel(
        ctypes.c_void_p(address),
        ctypes.c_void_p(packed.ctypes.data),
        ctypes.c_uint(1 if alone else torch.get_num_threads()),
        ctypes.c_uint(0),
    )


def side_by_side(job: Callable[[int, int], Result]) -> list[Result]:
    """The results of `job(part, parts)` for as many parts as torch has threads.

    They gain by it as far as the job lets go of Python's lock.
    """
    parts = torch.get_num_threads()
    if parts == 1:
        return [job(0, 1)]
    if _openmp is None:
        return list(_pool(parts).map(lambda part: job(part, parts), range(parts)))
    team, done = _openmp, [Future[Result]() for _ in range(parts)]

    def work(_: object) -> None:
        # The team may be smaller than was asked for: then a thread does several parts.
        for part in range(team.omp_get_thread_num(), parts, team.omp_get_num_threads()):
            try:
                done[part].set_result(job(part, parts))
            except BaseException as error:  # raised again where the results are asked for
                done[part].set_exception(error)

    team.GOMP_parallel(_LOOP(work), None, ctypes.c_uint(parts), ctypes.c_uint(0))
    return [future.result() for future in done]


_LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="side-by-side")


class Crowd:
    """As many threads as the machine has time for: fewer while others keep them waiting.

    A step whose threads wait for each other takes much longer than its processor time: then as
    many threads as had a processor do as well. Now and then it tries again with all of them.
    """

    LOOK, PATIENCE = 4, 256  # steps that are looked at together, and until the next try
    LOST = 0.6  # processors had, of those wanted: with fewer, threads are in each other's way

    def __init__(self, most: int) -> None:
        self.most = most
        self.threads = most
        self._steps = self._waited = 0
        self._clock = self._processor = 0.0

    def after_step(self, clock: float, processor: float) -> int:
        """The number of threads for the next step, by the seconds that the last one took."""
        self._steps += 1
        self._clock += clock
        self._processor += processor
        if self._steps < self.LOOK:
            return self.threads
        had = self._processor / max(self._clock, 1e-9)
        self._steps, self._clock, self._processor = 0, 0.0, 0.0
        if self.threads > 1 and had < self.LOST * self.threads:
            self.threads, self._waited = max(1, min(round(had), self.threads - 1)), 0
        elif self.threads < self.most:
            self._waited += self.LOOK
            if self._waited >= self.PATIENCE:
                self.threads, self._waited = self.most, 0
        return self.threads


def share(count: int, part: int, parts: int) -> tuple[int, int]:
    """The first row of a part, and the row after its last."""
    return count * part // parts, count * (part + 1) // parts


@contextmanager
def with_threads(number: int) -> Iterator[None]:
    """Within it torch computes with so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def one_thread() -> AbstractContextManager[None]:
    """For many products too small to share: on a busy machine each would wait for a second core."""
    return with_threads(1)
