"""What a step of several members takes beside a step of one, in processor time, one thread.

ComplEx of 256 dimensions with N3, in the shapes of FB14k-QAQ on random facts, 6 % of the
candidates drawn. Trainings of either take turns, so that whatever else the machine does slows both
alike; the table shows medians over the steps of all turns.

    python benchmarks/members.py [--members 4] [--rounds 4] [--candidates 0.06]
"""

import argparse
import statistics
import time
from typing import Any

import numpy as np
import torch

from assent.core.queries import Queries, both_ways
from assent.models import create
from assent.training.loop import train
from assent.training.settings import TrainSettings

GOAL = 3.0  # times one
ENTITIES, RELATIONS, DIM, BATCH = 13_541, 237, 256, 512
FACTS = 25_000  # about 90 steps a turn
WARM_UP = 10  # steps of a turn that do not count


class Timing:
    """The processor time from step to step."""

    def __init__(self) -> None:
        self.steps: list[float] = []
        self.last = time.thread_time()

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None:
        now = time.thread_time()
        if step > WARM_UP:
            self.steps.append(now - self.last)
        self.last = now

    def event(self, **values: Any) -> None: ...


def steps_of(members: int, queries: Queries, candidates: float) -> list[float]:
    """Seconds of the steps of one epoch."""
    torch.manual_seed(0)
    model = create("complex", ENTITIES, RELATIONS, {"dim": DIM, "members": members})
    settings = TrainSettings(
        epochs=1, batch_size=BATCH, candidates=candidates, n3=0.05, evaluate_every=0, threads=1
    )
    watcher = Timing()
    train(model, queries, settings, lambda _: 0.0, watcher)
    return watcher.steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--members", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--candidates", type=float, default=0.06)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    # few entities have many facts, as in FB14k-QAQ: the squared numbers crowd at zero
    ends = (rng.random((2, FACTS)) ** 2 * ENTITIES).astype(np.int32)
    relations = rng.integers(RELATIONS, size=FACTS)
    facts = np.unique(np.stack([ends[0], relations, ends[1]], 1), axis=0).astype(np.int32)
    queries = Queries.grouped(*both_ways(facts, RELATIONS))
    steps: dict[int, list[float]] = {1: [], options.members: []}
    for _ in range(options.rounds):
        for members, found in steps.items():
            found += steps_of(members, queries, options.candidates)
    one = statistics.median(steps[1])
    for members, found in steps.items():
        median = statistics.median(found)
        print(f"{members} members: {median * 1e3:6.1f} ms a step, {median / one:.2f} times one")
    print(f"goal: {GOAL:g} times")


if __name__ == "__main__":
    main()
