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
from assent.rules.bodies import PathSettings
from assent.rules.constants import Constants, mine_constants
from assent.rules.ends import EACH, Ends, mine_ends
from assent.rules.graph import Graph
from assent.rules.paths import Paths, mine_paths

Progress = Callable[[str, int, int], None]  # told what is mined, how much is done, and of how much

PARTS = {"constants": Constants, "paths": Paths, "ends": Ends}
LATER = "ends"  # files from before there were such rules do not have this part
PRIOR = 5.0  # cases against a rule, before any is counted


@dataclass(frozen=True, slots=True, eq=False)
class RuleSet:
    """The rules of a graph."""

    graph: Graph
    constants: Constants
    paths: Paths
    ends: Ends

    def __len__(self) -> int:
        return len(self.constants) + len(self.paths) + len(self.ends)

    def covering(self, least: float) -> "RuleSet":
        """Without the rules of a smaller head coverage.

        That is the share of the relation's facts that a rule is right about. Of a path that was
        not walked from everywhere, it is estimated.
        """
        if not least:
            return self
        constants, paths, ends, graph = self.constants, self.paths, self.ends, self.graph
        facts = np.bincount(graph.slots, minlength=graph.num_slots)  # (slot,)
        heads = rows_of(constants.offsets)
        there = constants.support >= least * facts[graph.item_slots[heads]]
        counts = np.bincount(heads[there], minlength=graph.num_items)
        far = rows_of(ends.offsets)
        told = ends.support >= least * facts[graph.item_slots[far]]
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
            ends=Ends(
                frozen(offsets_of(np.bincount(far[told], minlength=graph.num_items)), np.int64),
                *(frozen(getattr(ends, field.name)[told]) for field in fields(Ends)[1:]),
            ),
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All numbers but the graph's, by name."""
        return {
            f"{name}.{field.name}": getattr(getattr(self, name), field.name)
            for name, kind in PARTS.items()
            for field in fields(kind)
            if name != LATER or len(self.ends)
        }

    @classmethod
    def of_arrays(cls, graph: Graph, arrays: Mapping[str, NDArray[Any]]) -> "RuleSet":
        """From `arrays`, checked: a file may hold anything."""
        parts: dict[str, Any] = {LATER: Ends.nothing(graph)}
        for part, kind in PARTS.items():
            if part == LATER and not any(name.startswith(f"{part}.") for name in arrays):
                continue
            names = [f"{part}.{field.name}" for field in fields(kind)]
            if missing := [name for name in names if name not in arrays]:
                raise DataError(f"rules: {missing[0]} is missing")
            values = [arrays[name] for name in names]
            parts[part] = kind(*(frozen(value, value.dtype.type) for value in values))
        rules = cls(graph, **parts)
        rules._check()
        return rules

    def _check(self) -> None:
        constants, paths, ends, graph = self.constants, self.paths, self.ends, self.graph
        for offsets, *numbers in (
            (constants.offsets, constants.bodies, constants.support),
            (ends.offsets, ends.slots, ends.items, ends.support, ends.cases),
        ):
            rising = len(offsets) == graph.num_items + 1 and offsets[0] == 0
            rising = rising and bool((np.diff(offsets) >= 0).all())
            if not rising or {column.shape for column in numbers} != {(int(offsets[-1]),)}:
                raise DataError("rules: constants do not fit the graph")
        columns = (paths.steps, paths.support, paths.cases, paths.walked)
        if {len(column) for column in columns} != {len(paths)} or paths.steps.shape[1:] != (3,):
            raise DataError("rules: columns of paths of different lengths")
        within = [
            (constants.bodies, 0, graph.num_properties),
            (paths.relations, 0, graph.num_slots // 2),
            (paths.steps, -1, graph.num_slots),
            (paths.steps[:, 0], 0, graph.num_slots),
            (ends.slots, 0, graph.num_slots),
            (ends.items, 0, graph.num_items),
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
    ends: int = EACH,
    prior: float = PRIOR,
    minutes: float = math.inf,
    seed: int = 0,
    progress: Progress = lambda what, done, total: None,
) -> RuleSet:
    """The rules of facts (fact, 3): about constants, paths, and ends.

    Paths have so many `steps` at most. Ends are constants after two steps: of each item, so many
    `ends` are kept, the surest; 0: none.

    When the minutes are over, what was found so far is returned: rules about the items of most
    entities come first, and the paths that were met most often. Otherwise the same facts and the
    same seed give the same rules, whatever the number of threads.
    """
    over = time.monotonic() + 60 * minutes
    graph = Graph.of(facts, num_entities, num_relations)

    def until(what: str) -> Callable[[int, int], bool]:
        def go_on(done: int, total: int) -> bool:
            progress(what, done, total)
            return time.monotonic() < over

        return go_on

    constants = mine_constants(graph, min_support, seed=seed, go_on=until("constants"))
    settings = PathSettings(min_support=min_support, steps=steps)
    paths = mine_paths(graph, settings, seed, until("paths"))
    far = (
        mine_ends(graph, prior, min_support, ends, seed, until("constants after two steps"))
        if ends
        else Ends.nothing(graph)
    )
    return RuleSet(graph, constants, paths, far)
