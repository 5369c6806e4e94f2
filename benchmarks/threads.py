"""From which size on a second thread makes a training step faster: where `train.threads = 0` draws
its border. ComplEx on random data, one and two threads in turn, the fastest of three medians.

    python benchmarks/threads.py
"""

import math
import time

import torch

from assent.training.stepping import SMALL
from stepping import Row, medians, step

SIZES = (  # entities, dimensions, batch
    (60, 32, 64),
    (120, 64, 64),
    (200, 128, 64),
    (500, 128, 64),
    (2_000, 128, 64),
    (2_000, 256, 128),
    (4_000, 256, 256),
)
ROUNDS, TURNS = 8, 3


def step_ms(entities: int, dim: int, batch: int, threads: int) -> float:
    """Median milliseconds of a step."""
    torch.set_num_threads(threads)
    run = step(Row("complex"), dim, batch, entities)
    return 1e3 * medians({"step": run}, ROUNDS, time.perf_counter)["step"]


def main() -> None:
    torch.manual_seed(0)
    print(
        f"{'entities':>8}{'dim':>5}{'batch':>6}{'size':>8}{'one, ms':>9}{'two, ms':>9}{'ratio':>7}"
    )
    for size in SIZES:
        turns = [[step_ms(*size, threads) for threads in (1, 2)] for _ in range(TURNS)]
        one, two = (min(times) for times in zip(*turns, strict=True))
        power = f"2^{math.log2(math.prod(size)):.1f}"
        print(f"{size[0]:8,}{size[1]:5}{size[2]:6}{power:>8}{one:9.2f}{two:9.2f}{one / two:7.2f}")
    print(f"`train.threads = 0` takes one thread up to 2^{math.log2(SMALL):.0f}")


if __name__ == "__main__":
    main()
