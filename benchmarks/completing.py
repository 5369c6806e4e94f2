"""How long completing a graph takes, as a ratio to the bare product of the scores that it needs.

    python benchmarks/completing.py [--run RUN] [--every 1] [--by query|fact] [--threads 2]
        [--entities 1000000]

FB14k-QAQ whole: all plausible queries of 237 relations, both sides, decided, with evidence; by
a trained RUN and its decider or judge, or else by a random ComplEx of 256 dimensions whose
thresholds accept about as many. `--every 8` takes every eighth relation; `--by fact` decides by a
rehearsal. Then synthetic entities: peak memory.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch

import assent
from assent.completing.by_fact import ByFact
from assent.completing.by_query import ByQuery
from assent.completing.completing import Wanted
from assent.completing.ground import Ground
from assent.core.benchmark import Benchmark
from assent.core.decider import Decider
from assent.core.queries import Queries
from assent.core.scores import unheard
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import Vocabulary
from assent.models import Model, create
from assent.scoring import CELLS
from assent.verbs.deciders import load_decider
from measuring import data_folder, peak_memory

DIM = 256
GOAL, GOAL_MEMORY = 2.0, 2.0
SHARE = 1e-6  # of all candidates that random scores are made to accept
RELATIONS, FACTS, ANCHORS = 20, 3_000_000, 64  # of the synthetic entities


def random_model(entities: int, relations: int, dim: int) -> Model:
    torch.manual_seed(0)
    return create("complex", entities, relations, {"dim": dim, "init_scale": 0.45})


def accepting(model: Model, share: float) -> Decider:
    """One threshold, which about this share of random candidates exceeds."""
    anchors = torch.randint(model.num_entities, (64,))
    scores = model.scores(anchors, torch.randint(2 * model.num_relations, (64,))).numpy().ravel()
    value = (
        scores.mean() + scores.std() * 4.75
        if share < 1 / len(scores)
        else np.quantile(scores, 1 - share)
    )
    thresholds = Thresholds.single(float(value), 2 * model.num_relations)
    return Decider.of_thresholds("given", "f1", thresholds)


class Clock:
    """Seconds on the wall and of the processor; the second hardly feel a busy machine."""

    def __enter__(self) -> "Clock":
        self.wall, self.processor = -time.perf_counter(), -time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter()
        self.processor += time.process_time()


def bare(model: Model, count: int) -> Clock:
    """The products alone, in blocks as `score` makes them."""
    table = model.entities.detach()
    size = max(64, CELLS // len(table))
    queries, out = torch.randn(size, table.shape[1]), torch.empty(size, len(table))
    with Clock() as clock:
        for first in range(0, count, size):
            rows = min(size, count - first)
            torch.mm(queries[:rows], table.T, out=out[:rows])
    return clock


def whole(folder: Path | None, every: int, by: str) -> None:
    if folder is not None:
        run = assent.load_run(folder)
        benchmark, model = run.benchmark, run.model
        decider = load_decider(folder, run)
    else:
        benchmark = assent.load(data_folder() / "fb14k-qaq")
        names = benchmark.vocabulary
        model = random_model(names.num_entities, names.num_relations, DIM)
        decider = accepting(model, SHARE)
    names = benchmark.vocabulary

    def completed(relations: tuple[str, ...]) -> tuple[Clock, int, int, int]:
        with Clock() as clock:
            wanted = Wanted(relations, review_above=0.5)
            ground = Ground(benchmark, wanted)
            work: ByQuery | ByFact = ByQuery(ground, model, decider)
            if by == "fact":
                work = ByFact(ground, model, decider, precision=0.5)
            found = work.result(unheard, lambda: False)
        asked = sum(outcome.queries for outcome in found.outcomes)
        accepted = int(found.facts.accepted.sum())
        return clock, asked, accepted, len(found) - accepted

    completed(names.relations[:1])  # compiles the loops
    taken, asked, accepted, review = completed(names.relations[::every])
    product = bare(model, asked)
    print(
        f"FB14k-QAQ, one in {every} relations: {asked:,} queries x {names.num_entities:,} entities"
    )
    print(f"  {accepted:,} facts accepted, {review:,} to review, with evidence")
    ratios = (taken.wall / product.wall, taken.processor / product.processor)
    print("                                    wall  processor")
    products = f"bare product, {model.entities.shape[1]} dimensions"
    for name, clock in ((products, product), ("completion", taken)):
        print(f"  {name:<30} {clock.wall:7.1f} s  {clock.processor:7.1f} s")
    print(f"  {'ratio':<30} {ratios[0]:7.2f}    {ratios[1]:7.2f}    goal {GOAL}")
    print(f"  peak memory                    {peak_memory():7.2f} GB  goal {GOAL_MEMORY}")


def large(entities: int) -> None:
    """All relations, asked about a few anchors, in a graph of random facts."""
    rng = np.random.default_rng(0)
    facts = np.column_stack(
        [rng.integers(entities, size=(FACTS, 2)), rng.integers(RELATIONS, size=FACTS)]
    )[:, [0, 2, 1]].astype(np.int32)
    names = Vocabulary(
        tuple(f"e{entity}" for entity in range(entities)),
        tuple(f"r{relation}" for relation in range(RELATIONS)),
    )
    nothing = Queries.grouped(*np.zeros((3, 0), np.int32))
    benchmark = Benchmark(names, np.unique(facts, axis=0), nothing, nothing, True)
    model = random_model(entities, RELATIONS, 128)
    wanted = Wanted(anchors=names.entities[:ANCHORS])
    start = time.perf_counter()
    work = ByQuery(Ground(benchmark, wanted), model, accepting(model, 0))
    found = work.result(unheard, lambda: False)
    asked = sum(outcome.queries for outcome in found.outcomes)
    print(f"{entities},{asked},{len(found)},{time.perf_counter() - start},{peak_memory()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--run", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--by", choices=("query", "fact"), default="query")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--entities", type=int, default=1_000_000)
    parser.add_argument("--large", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.large:
        return large(options.large)
    whole(options.run, options.every, options.by)
    command = [sys.executable, __file__, "--large", str(options.entities)]
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    size, asked, found, seconds, memory = map(float, line.split(","))
    print(
        f"{size:,.0f} entities, {FACTS:,} facts: {asked:,.0f} queries in {seconds:.0f} s, "
        f"{found:,.0f} facts, {memory:.2f} GB"
    )


if __name__ == "__main__":
    main()
