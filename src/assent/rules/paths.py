"""Path rules: r(X, Y) <- s(X, A), t(A, B), u(B, Y), of one to three steps.

Bodies are found between known facts (`bodies.py`), then each is walked (`walking.py`).
"""

# mypy: disable-error-code=no-untyped-call
# Loops that Numba compiles are typed in its own way.

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, frozen
from assent.rules.bodies import PathSettings, all_bodies
from assent.rules.graph import Graph
from assent.rules.steps import STEPS, steps_of_codes
from assent.rules.walking import walk_all

BODIES_AT_ONCE = 512  # walked before the clock is looked at again


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Rules about relations, asked for from the head; the tail's view is the same path back."""

    relations: Ids  # (rule,)
    steps: Ids  # (rule, 3)   slots; NONE after the last
    support: Ids  # (rule,)
    cases: Ids  # (rule,)
    walked: NDArray[np.float32]  # (rule,)   share of the possible starts that were walked from

    def __len__(self) -> int:
        return len(self.relations)

    @classmethod
    def nothing(cls) -> "Paths":
        empty = frozen([])
        return cls(empty, frozen(np.empty((0, STEPS))), empty, empty, frozen([], np.float32))


def mine_paths(
    graph: Graph,
    settings: PathSettings = PathSettings(),  # noqa: B008  frozen
    seed: int = 0,
    go_on: Callable[[int, int], bool] = lambda done, total: True,
) -> Paths:
    """Rules of at least the support asked for, the bodies most often found first.

    `go_on(done, total)` is told how much of the work is done, and says whether to do more.
    """
    relations, codes, found = all_bodies(graph, settings, seed)
    bodies, which = np.unique(codes, return_inverse=True)
    weight = np.bincount(which, found, len(bodies))
    rank = np.empty(len(bodies), np.int64)
    rank[np.argsort(-weight, kind="stable")] = np.arange(len(bodies))
    order = np.lexsort((relations, rank[which]))
    relations, places = relations[order], rank[which][order]
    bodies = bodies[np.argsort(rank)]
    offsets = np.searchsorted(places, np.arange(len(bodies) + 1))
    steps = steps_of_codes(bodies, graph.num_slots)
    cases = np.zeros(len(bodies), np.int64)
    walked = np.zeros(len(bodies), np.float32)
    support = np.zeros(len(relations), np.int64)
    done = 0
    while done < len(bodies) and go_on(done, len(bodies)):
        end = min(done + BODIES_AT_ONCE, len(bodies))
        walk_all(graph, steps, offsets, relations, settings.steps_walked, seed, done, end,
                 cases, walked, support)  # fmt: skip
        done = end
    kept = np.flatnonzero((support >= settings.min_support) & (places < done))
    return Paths(
        frozen(relations[kept]),
        frozen(steps[places[kept]]),
        frozen(support[kept]),
        frozen(cases[places[kept]]),
        frozen(walked[places[kept]], np.float32),
    )
