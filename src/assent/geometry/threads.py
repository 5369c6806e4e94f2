"""Compiled loops on torch's own threads.

Numba's threads and torch's would fight for the same cores: an OpenMP worker keeps spinning for
milliseconds after its work is done, longer than a whole pass over a slice takes. So a compiled
loop is handed to the very OpenMP runtime that torch is linked with, and its team does both.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

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


@contextmanager
def one_thread() -> Iterator[None]:
    """For many products too small to share: on a busy machine each would wait for a second core."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
