"""The learning rate as a function of how far training has come."""

import math
from collections.abc import Callable, Sequence

WARM_UP = 0.25  # share of the steps in which one-cycle rises
START, END = 1 / 25, 1e-4  # of the highest rate, where one-cycle starts and ends
PLATEAU = 3  # evaluations without a better one before the rate is halved


def one_cycle(done: float, scores: Sequence[float]) -> float:
    """Up along a cosine, then down along one, to next to nothing (Smith, 2018)."""
    if done < WARM_UP:
        return _between(START, 1.0, done / WARM_UP)
    return _between(1.0, END, (done - WARM_UP) / (1 - WARM_UP))


def constant(done: float, scores: Sequence[float]) -> float:
    return 1.0


def plateau(done: float, scores: Sequence[float]) -> float:
    """Halved whenever the evaluations have not become better for a while."""
    rate, best, since = 1.0, -math.inf, 0
    for score in scores:
        best, since = (score, 0) if score > best else (best, since + 1)
        if since == PLATEAU:
            rate, since = rate / 2, 0
    return rate


def _between(first: float, last: float, done: float) -> float:
    return last + (first - last) * (1 + math.cos(math.pi * done)) / 2


# share of the steps done, evaluations so far -> share of the highest rate
SCHEDULES: dict[str, Callable[[float, Sequence[float]], float]] = {
    "one-cycle": one_cycle,
    "constant": constant,
    "plateau": plateau,
}

# The share of the steps in which the rate rises: whatever comes out of them will soon be surpassed.
RISING = {"one-cycle": WARM_UP}
