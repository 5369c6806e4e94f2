"""How long a training step takes, as a ratio to the three matrix products inside it.

Random data in the shapes of FB14k-QAQ. Products and models take turns of a few steps, so that
whatever else the machine does slows all of them alike, and yet caches hold what they hold in
training; the first step of a turn does not count. The table shows medians. With one thread the
clock is that of the processor, which a busy machine changes little. Queries ascend by slot, as in
training; those of TransR have four slots, as `train.slots` has it, the others any.

    python benchmarks/stepping.py [--rounds 10] [--threads 2] [--dim 128] [--batch 512]
"""

import argparse
import statistics
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import torch

from assent.geometry import Answers, manhattan, passes
from assent.models import create

ENTITIES, RELATIONS, ANSWERS = 13_541, 237, 3  # answers of a query, on average
FACTS = 240_000  # of train, for models that hear them


class Row(NamedTuple):
    """A model that is measured."""

    model: str
    settings: Mapping[str, object] = MappingProxyType({})
    goal: float | None = None  # times DistMult
    slots: int = 2 * RELATIONS  # from which those of a batch are drawn


STEPS = {
    "distmult": Row("distmult"),
    "complex": Row("complex"),
    "conve": Row("conve", goal=2.2),
    "rescal": Row("rescal", goal=2.5),
    "transe, L1": Row("transe", {"norm": 1}, 2.5),
    "transe, L2": Row("transe", {"norm": 2}, 2.2),
    "transh": Row("transh", goal=4),
    "transr, 4 slots": Row("transr", goal=4, slots=4),
    "transr, any": Row("transr"),
    "transa, full": Row("transa", {"metric": "full"}, 4),
    "transa, diagonal": Row("transa", {"metric": "diagonal"}, 4),
    "region, ellipse": Row("region", {"shape": "ellipse"}, 2.2),
    "region, sphere": Row("region", {"shape": "sphere"}, 2.2),
    "attention": Row("attention", goal=6),
}
TURN = 4  # steps that count
PRODUCTS, FIRST, PRODUCTS_GOAL = "three products", "distmult", 1.35
BY_PRODUCTS = ("distmult", "complex")  # models with a goal by the products


def products(batch: int, dim: int) -> Callable[[], None]:
    """Scores, and the gradients of queries and entities, without anything around them."""
    queries, entities = torch.randn(batch, dim), torch.randn(ENTITIES, dim)
    scores = torch.empty(batch, ENTITIES)
    grad_queries, grad_entities = torch.empty_like(queries), torch.empty_like(entities)

    def run() -> None:
        torch.mm(queries, entities.T, out=scores)
        torch.mm(scores, entities, out=grad_queries)
        torch.mm(scores.T, queries, out=grad_entities)

    return run


def step(row: Row, dim: int, batch: int, entities: int = ENTITIES) -> Callable[[], None]:
    """Encode, loss, gradients, Adam."""
    ends = torch.randint(entities, (2, FACTS), dtype=torch.int32)
    between = torch.randint(RELATIONS, (FACTS,), dtype=torch.int32)
    facts = torch.stack([ends[0], between, ends[1]], 1)
    settings = {**row.settings, "dim": dim}
    model = create(row.model, entities, RELATIONS, settings, facts=facts.numpy())
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, fused=True)

    def run() -> None:
        anchors = torch.randint(entities, (batch,))
        some = torch.randperm(2 * RELATIONS)[: row.slots]
        relations = some[torch.randint(len(some), (batch,))].sort().values
        answers = Answers(
            torch.arange(batch + 1) * ANSWERS, torch.randint(entities, (batch * ANSWERS,))
        )
        optimizer.zero_grad(set_to_none=True)
        model.loss(anchors, relations, answers).backward()
        optimizer.step()

    return run


def medians(
    runs: dict[str, Callable[[], None]], rounds: int, clock: Callable[[], float]
) -> dict[str, float]:
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            run()
            for _ in range(TURN):
                start = clock()
                run()
                seconds[name].append(clock() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--only", nargs="*", choices=STEPS, help="besides distmult")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    runs = {PRODUCTS: products(options.batch, options.dim)}
    for label, row in STEPS.items():
        if label == FIRST or options.only is None or label in options.only:
            runs[label] = step(row, options.dim, options.batch)
    clock = time.thread_time if options.threads == 1 else time.perf_counter
    found = medians(runs, options.rounds, clock)
    can_pass = passes.can_run(torch.empty(1, 1))
    print(
        f"batch {options.batch}, {ENTITIES} entities, dim {options.dim}, "
        f"{options.threads} threads; compiled pass: {'yes' if can_pass else 'no'}, "
        f"compiled L1: {'yes' if manhattan.kernels else 'no'}"
    )
    print(f"{'':16}{'ms':>8}{'/products':>11}{'/distmult':>11}{'goal':>18}")
    for label, median in found.items():
        to_products, to_first = median / found[PRODUCTS], median / found[FIRST]
        goal = STEPS[label].goal if label in STEPS else None
        words = f"{goal} distmult" if goal else ""
        words = f"{PRODUCTS_GOAL} products" if label in BY_PRODUCTS else words
        print(f"{label:16}{median * 1e3:8.1f}{to_products:11.2f}{to_first:11.2f}{words:>18}")


if __name__ == "__main__":
    main()
