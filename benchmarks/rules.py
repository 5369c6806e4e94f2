"""How long rules take, and how much memory: mining, scoring queries, judging candidates.

    python benchmarks/rules.py [GRAPH] [--queries N] [--candidates N] [--steps N] [--threads N]
    python benchmarks/rules.py --synthetic 10000000 [--minutes 5]     mining alone, drawn by Zipf

GRAPH is a file, a folder or the name of a data set (fb14k-qaq). Processor time, not wall-clock:
a busy machine does not change it. The goal is 180 s times 2 cores and 2 GB for mining FB14k-QAQ.
"""

import argparse
import resource
import time
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TypeVar

import numpy as np
import torch

from assent.rules.mining import RuleSet, mine
from assent.rules.model import RuleModel, RuleSettings
from assent.rules.paths import Paths
from assent.rules.steps import NONE
from assent.verbs.deciders import rule_columns
from assent.verbs.runs import load_benchmark
from building import synthetic

EACH = 8  # candidates a query: as many as a judge looks at, on average

Result = TypeVar("Result")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", nargs="?", default="fb14k-qaq")
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--candidates", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--synthetic", type=int, help="so many facts of a made-up graph")
    parser.add_argument("--minutes", type=float, default=5.0, help="of mining the made-up graph")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.synthetic:
        made_up(options.synthetic, options.minutes, options.steps)
        return
    benchmark = load_benchmark(options.graph)
    names, rng = benchmark.vocabulary, np.random.default_rng(0)
    sizes = names.num_entities, names.num_relations
    tiny = np.array([[0, 0, 1], [1, 0, 2], [2, 0, 0]], np.int32)
    mine(tiny, 3, 1)  # compiled, and counted for nothing
    print(f"{options.graph}: {len(benchmark.train):,} train facts, {options.threads} threads")
    rules = timed("mining", lambda: mine(benchmark.train, *sizes, steps=options.steps))
    print(counted(rules))
    model = RuleModel(*sizes, RuleSettings(steps=options.steps))
    timed("making them ready", lambda: model.hear(benchmark.train, rules, False))
    queries = benchmark.valid
    asked = rng.permutation(len(queries))[: options.queries]
    anchors, slots = (torch.tensor(part[asked]) for part in (queries.anchors, queries.relations))
    model.scores(anchors[:1], slots[:1])
    timed(f"scores of {len(asked):,} queries", lambda: model.scores(anchors, slots))
    few = rules.paths.steps[:, 2] == NONE
    short = replace(rules, paths=Paths(*(getattr(rules.paths, f.name)[few] for f in fields(Paths))))
    told = timed("making a judge's columns ready", lambda: rule_columns(short))
    rows = np.repeat(rng.permutation(len(queries))[: options.candidates // EACH], EACH)
    entities = rng.integers(0, names.num_entities, len(rows)).astype(np.int32)
    candidates = queries.anchors[rows], queries.relations[rows], entities
    told(*(part[:2] for part in candidates))
    timed(f"columns of {len(rows):,} candidates", lambda: told(*candidates))
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


def made_up(size: int, minutes: float, steps: int) -> None:
    """Mining what can be mined in these minutes, and the memory that it takes."""
    facts = synthetic(size).facts
    relations, entities = int(facts[:, 1].max()) + 1, int(facts[:, [0, 2]].max()) + 1
    print(f"{len(facts):,} facts, {entities:,} entities, {relations:,} relations")
    print(f"memory before: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    rules = timed("mining", lambda: mine(facts, entities, relations, steps=steps, minutes=minutes))
    print(counted(rules))
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


def counted(rules: RuleSet) -> str:
    return (
        f"  {len(rules.constants):,} rules with constants, {len(rules.paths):,} paths, "
        f"{len(rules.ends):,} with a constant after two steps"
    )


def timed(what: str, do: Callable[[], Result]) -> Result:
    start = time.process_time()
    result = do()
    print(f"{what}: {time.process_time() - start:.2f} s")
    return result


if __name__ == "__main__":
    main()
