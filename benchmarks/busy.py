"""Training on a busy machine: queries per second of processor time, alone and beside others.

ComplEx in the shapes of FB14k-QAQ on random facts, with candidates drawn and with all, as many
threads as `train.threads = 0` takes. Each measurement is a process of its own, beside none, one
and two processes that do nothing but keep a processor busy. Processor time is what a training
takes from others; a training whose threads spin while they wait takes more of it for less.

    python benchmarks/busy.py [--seconds 30] [--candidates 0.1 0]
"""

import argparse
import json
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import Any

GOAL = 1.3  # times worse than alone, at most
ENTITIES, RELATIONS, FACTS = 13_541, 237, 236_795
DIM, BATCH = 256, 512
SPIN = "while True: pass"
WARM_UP = 3  # steps that do not count


class Counting:
    """Counts queries and the time they took, once the first steps have compiled everything."""

    def __init__(self) -> None:
        self.queries = 0
        self.clock = self.processor = 0.0

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None:
        if epoch == 0 and step <= WARM_UP:
            self.began = time.perf_counter(), time.process_time()
            return
        self.queries += queries
        self.clock = time.perf_counter() - self.began[0]
        self.processor = time.process_time() - self.began[1]

    def event(self, **values: Any) -> None: ...


def measure(candidates: float, seconds: float) -> dict[str, float]:
    """Trains for so many seconds of steps."""
    import numpy as np

    import assent  # noqa: F401  first: it says how threads wait
    from assent.core.queries import Queries, both_ways
    from assent.models import create
    from assent.training.loop import train
    from assent.training.settings import TrainSettings

    rng = np.random.default_rng(0)
    ends = rng.integers(ENTITIES, size=(2, FACTS))
    facts = np.stack([ends[0], rng.integers(RELATIONS, size=FACTS), ends[1]], 1)
    facts = np.unique(facts, axis=0).astype(np.int32)
    queries = Queries.grouped(*both_ways(facts, RELATIONS))
    model = create("complex", ENTITIES, RELATIONS, {"dim": DIM})
    settings = TrainSettings(batch_size=BATCH, candidates=candidates, evaluate_every=0)
    watcher = Counting()
    train(model, queries, settings, lambda _: 0.0, watcher, minutes=seconds / 60)
    return {"queries": watcher.queries, "clock": watcher.clock, "processor": watcher.processor}


def beside(others: int, candidates: float, seconds: float) -> dict[str, float]:
    """The same in a process of its own, while `others` keep processors busy."""
    with ExitStack() as stack:
        for _ in range(others):
            spinning = subprocess.Popen([sys.executable, "-c", SPIN])
            stack.callback(spinning.wait)
            stack.callback(spinning.kill)
        command = [sys.executable, __file__, "--measure", str(candidates), str(seconds)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--candidates", type=float, nargs="*", default=[0.1, 0.0])
    parser.add_argument("--measure", type=float, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        return
    print(f"{'candidates':>10}{'beside':>8}{'/s of clock':>13}{'/s of processor':>17}{'worse':>7}")
    for candidates in options.candidates:
        alone = None
        for others in (0, 1, 2):
            found = beside(others, candidates, options.seconds)
            speed = found["queries"] / found["processor"]
            alone = alone or speed
            print(
                f"{candidates or 'all':>10}{others:8}{found['queries'] / found['clock']:13,.0f}"
                f"{speed:17,.0f}{alone / speed:6.2f}x",
                flush=True,
            )
    print(f"goal: at most {GOAL}x worse")


if __name__ == "__main__":
    main()
