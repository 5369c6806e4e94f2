"""How long deciding and measuring take, as a ratio to the bare product of the same scores.

    python benchmarks/evaluating.py [--rounds 5] [--threads 2] [--entities 1000000]

FB14k-QAQ whole: curves on valid, then classification and ranking on test, with a random ComplEx
of 128 dimensions. Then synthetic entities: time a query at two sizes, and peak memory.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

import assent
from assent.core.arrays import frozen, offsets_of
from assent.core.queries import Queries
from assent.core.scores import collect
from assent.core.thresholds import Thresholds
from assent.deciding.curves import Curves
from assent.deciding.objectives import FBeta
from assent.deciding.rules import best_together
from assent.deciding.shortlisting import Above, Highest
from assent.measuring.classification import Classified
from assent.measuring.ranking import Standings
from assent.models import Model, create
from assent.scoring import CELLS, score
from measuring import data_folder, medians, peak_memory

DIM, RELATIONS = 128, 237
GOAL, GOAL_MEMORY, GOAL_LARGE = 3.0, 1.2, 4.0
QUERIES, ANSWERS = 256, 3  # of the synthetic entities


def random_model(entities: int, relations: int = RELATIONS) -> Model:
    """Scores of about -6, some of them high, as a trained model has them."""
    torch.manual_seed(0)
    return create("complex", entities, relations, {"dim": DIM, "init_scale": 0.45})


def bare(model: Model, count: int) -> Callable[[], None]:
    """The products alone, in blocks as `score` makes them."""
    table = model.entities.detach()
    size = CELLS // len(table)
    queries, out = torch.randn(size, DIM), torch.empty(size, len(table))

    def run() -> None:
        for first in range(0, count, size):
            rows = min(size, count - first)
            torch.mm(queries[:rows], table.T, out=out[:rows])

    return run


def whole(rounds: int) -> None:
    benchmark = assent.load(data_folder() / "fb14k-qaq")
    model = random_model(benchmark.vocabulary.num_entities)
    num_slots = 2 * benchmark.vocabulary.num_relations
    known = {split: benchmark.known(split) for split in ("valid", "test")}
    truth = benchmark.truth()

    def curves() -> tuple[Curves, Curves]:
        highest = Highest(benchmark.valid, num_slots)
        collect(score(model, benchmark.valid, known["valid"]), highest)
        found = highest.result()
        return Curves.by_relation(found), Curves.overall(found)

    def measures() -> None:
        thresholds = Thresholds.single(0.0, num_slots)
        above = Above(benchmark.test, thresholds)
        standings = Standings(benchmark.test, truth, model.num_entities)
        collect(score(model, benchmark.test, known["test"]), above, standings)
        shortlist = above.result()
        Classified(benchmark.test, shortlist.counts(shortlist.accepted(thresholds))).of("full")
        standings.filtered()

    curves(), measures()  # compiles the loops
    count = len(benchmark.valid) + len(benchmark.test)
    found = medians({"bare": bare(model, count), "curves": curves, "measures": measures}, rounds)
    total = found["curves"] + found["measures"]
    print(f"FB14k-QAQ, {count:,} queries x {model.num_entities:,} entities, {DIM} dimensions")
    print(f"  bare product                            {found['bare']:6.2f} s")
    print(f"  curves on valid                         {found['curves']:6.2f} s")
    print(f"  classification and ranking on test      {found['measures']:6.2f} s")
    print(f"  ratio to the product                    {total / found['bare']:6.2f}   goal {GOAL}")
    print(f"  peak memory                             {peak_memory():6.2f} GB  goal {GOAL_MEMORY}")
    highest = Highest(benchmark.valid, num_slots)
    collect(score(model, benchmark.valid, known["valid"]), highest)
    shortlist, start = highest.result(), time.perf_counter()
    best_together(shortlist, FBeta())
    print(f"  thresholds for each relation from these {time.perf_counter() - start:6.2f} s")


def large(entities: int) -> None:
    """Everything of `whole` on queries about random facts."""
    rng = np.random.default_rng(0)
    model = random_model(entities)
    queries = Queries(
        frozen(rng.integers(entities, size=QUERIES)),
        frozen(rng.integers(2 * RELATIONS, size=QUERIES)),
        frozen(offsets_of(np.full(QUERIES, ANSWERS)), np.int64),
        frozen(rng.integers(entities, size=QUERIES * ANSWERS)),
        frozen(np.zeros(QUERIES)),
    )
    nothing = Queries.grouped(*np.zeros((3, 0), np.int32))
    for _ in range(2):  # the first compiles the loops
        start = time.perf_counter()
        highest = Highest(queries, 2 * RELATIONS)
        standings = Standings(queries, nothing, entities)
        collect(score(model, queries, nothing), highest, standings)
        Curves.by_relation(highest.result())
        seconds = time.perf_counter() - start
    print(f"{entities},{seconds / QUERIES * 1e3},{peak_memory()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--entities", type=int, default=1_000_000)
    parser.add_argument("--large", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.large:
        return large(options.large)
    whole(options.rounds)
    # Each size in a process of its own: only so does its peak of memory show.
    for entities in (options.entities // 10, options.entities):
        command = [sys.executable, __file__, "--large", str(entities)]
        line = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        size, milliseconds, memory = map(float, line.split(","))
        print(
            f"{size:,.0f} entities: {milliseconds:.2f} ms a query, "
            f"{milliseconds / size * 1e6:.2f} ns a candidate, "
            f"{memory:.2f} GB (goal {GOAL_LARGE})"
        )


if __name__ == "__main__":
    main()
