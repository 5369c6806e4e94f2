"""Processes that share the entities, as threads of one: what each gives lies in a list for all."""

import contextvars
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import torch

from assent.geometry import Peers


class InThreads(Peers):
    def __init__(self, rank, size, barrier, table):
        super().__init__(rank, size)
        self.barrier, self.table = barrier, table

    def everyones(self, mine):
        self.table[self.rank] = mine
        self.barrier.wait()
        all_of_them = list(self.table)
        self.barrier.wait()
        return all_of_them

    def all_parts(self, part):
        return torch.stack(self.everyones(part.clone()))

    def sum_(self, *tensors):
        for tensor in tensors:
            tensor.copy_(self.all_parts(tensor).sum(0))

    def told(self, text):
        return self.everyones(text)[0]


def in_all(size, work):
    """`work(peers)` of each of so many processes."""
    barrier, table = Barrier(size, timeout=60), [None] * size

    def one(rank):
        try:
            return contextvars.copy_context().run(work, InThreads(rank, size, barrier, table))
        except BaseException:
            barrier.abort()  # so that the others end, too
            raise

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(one, range(size)))
