"""All rules of a graph: mined within the minutes that there are, and kept as plain arrays."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, frozen, offsets_of, rows_of
from assent.errors import DataError
from assent.rules.constants import Constants, mine_constants
from assent.rules.graph import Graph
from assent.rules.paths import Paths, PathSettings, mine_paths

Progress = Callable[[str, int, int], None]  # told what is mined, how much is done, and of how much

PARTS = {"constants": Constants, "paths": Paths}


@dataclass(frozen=True, slots=True, eq=False)
class RuleSet:
    """The rules of a graph."""

    graph: Graph
    constants: Constants
    paths: Paths

    def __len__(self) -> int:
        return len(self.constants) + len(self.paths)

    def covering(self, least: float) -> "RuleSet":
        """Without the rules of a smaller head coverage.

        That is the share of the relation's facts that a rule is right about. Of a path that was
        not walked from everywhere, it is estimated.
        """
        if not least:
            return self
        constants, paths, graph = self.constants, self.paths, self.graph
        facts = np.bincount(graph.slots, minlength=graph.num_slots)  # (slot,)
        heads = rows_of(constants.offsets)
        there = constants.support >= least * facts[graph.item_slots[heads]]
        counts = np.bincount(heads[there], minlength=graph.num_items)
        right = paths.support / np.maximum(paths.walked, np.finfo(np.float32).tiny)
        wide = right >= least * facts[paths.relations]
        return replace(
            self,
            constants=Constants(
                frozen(offsets_of(counts), np.int64),
                frozen(constants.bodies[there]),
                frozen(constants.support[there]),
            ),
            paths=Paths(*(getattr(paths, field.name)[wide] for field in fields(Paths))),
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All numbers but the graph's, by name."""
        return {
            f"{name}.{field.name}": getattr(getattr(self, name), field.name)
            for name, kind in PARTS.items()
            for field in fields(kind)
        }

    @classmethod
    def of_arrays(cls, graph: Graph, arrays: Mapping[str, NDArray[Any]]) -> "RuleSet":
        """From `arrays`, checked: a file may hold anything."""
        parts = {}
        for part, kind in PARTS.items():
            names = [f"{part}.{field.name}" for field in fields(kind)]
            if missing := [name for name in names if name not in arrays]:
                raise DataError(f"rules: {missing[0]} is missing")
            values = [arrays[name] for name in names]
            parts[part] = kind(*(frozen(value, value.dtype.type) for value in values))
        rules = cls(graph, **parts)
        rules._check()
        return rules

    def _check(self) -> None:
        constants, paths, graph = self.constants, self.paths, self.graph
        offsets = constants.offsets
        sizes = {len(column) for column in (constants.bodies, constants.support)}
        rising = len(offsets) == graph.num_items + 1 and offsets[0] == 0
        rising = rising and bool((np.diff(offsets) >= 0).all())
        if not rising or sizes != {int(offsets[-1])}:
            raise DataError("rules: constants do not fit the graph")
        columns = (paths.steps, paths.support, paths.cases, paths.walked)
        if {len(column) for column in columns} != {len(paths)} or paths.steps.shape[1:] != (3,):
            raise DataError("rules: columns of paths of different lengths")
        within = [
            (constants.bodies, 0, graph.num_properties),
            (paths.relations, 0, graph.num_slots // 2),
            (paths.steps, -1, graph.num_slots),
            (paths.steps[:, 0], 0, graph.num_slots),
        ]
        if any(((ids < low) | (ids >= high)).any() for ids, low, high in within):
            raise DataError("rules: a property or slot that is not there")


def mine(
    facts: Ids,
    num_entities: int,
    num_relations: int,
    *,
    steps: int = 3,
    min_support: int = 2,
    minutes: float = math.inf,
    seed: int = 0,
    progress: Progress = lambda what, done, total: None,
) -> RuleSet:
    """The rules of facts (fact, 3): constants, and paths of at most so many steps.

    When the minutes are over, what was found so far is returned: rules about the items of most
    entities come first, and the paths that were met most often. Otherwise the same facts and the
    same seed give the same rules, whatever the number of threads.
    """
    ends = time.monotonic() + 60 * minutes
    graph = Graph.of(facts, num_entities, num_relations)

    def until(what: str) -> Callable[[int, int], bool]:
        def go_on(done: int, total: int) -> bool:
            progress(what, done, total)
            return time.monotonic() < ends

        return go_on

    constants = mine_constants(graph, min_support, seed=seed, go_on=until("constants"))
    settings = PathSettings(min_support=min_support, steps=steps)
    return RuleSet(graph, constants, mine_paths(graph, settings, seed, until("paths")))
