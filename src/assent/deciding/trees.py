"""Boosted trees as plain arrays: nothing in a file of them can run."""

# mypy: ignore-errors
# Numba checks the types of the loop, in its own way.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from assent.core.arrays import frozen, offsets_of
from assent.errors import DataError

LEAF = -1
BLOCK = 256  # rows that a tree looks at before the next tree does
KINDS = {  # column -> dtype
    "features": np.int32,
    "thresholds": np.float64,
    "left": np.int32,
    "right": np.int32,
    "missing_left": np.bool_,
    "values": np.float64,
    "roots": np.int32,
    "members": np.int32,
    "starts": np.float64,
}


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Several boosted models, one for each fold of the queries."""

    features: NDArray[np.int32]  # (node,)   what is compared; LEAF: nothing
    thresholds: NDArray[np.float64]  # (node,)   not higher than this goes left
    left: NDArray[np.int32]  # (node,)   always a later node, so that every way ends
    right: NDArray[np.int32]  # (node,)
    missing_left: NDArray[np.bool_]  # (node,)   where nan goes
    values: NDArray[np.float64]  # (node,)   what a leaf adds to the logit
    roots: NDArray[np.int32]  # (tree,)
    members: NDArray[np.int32]  # (tree,)   the model that a tree belongs to
    starts: NDArray[np.float64]  # (model,)   the logit before any tree

    @classmethod
    def of_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], num_features: int, num_models: int
    ) -> Self:
        """From a file: hostile until parsed."""
        if set(arrays) != set(KINDS):
            raise DataError("trees: expected the arrays " + ", ".join(KINDS))
        for name, kind in KINDS.items():
            if arrays[name].dtype != kind or arrays[name].ndim != 1:
                raise DataError(f"trees: {name} is not a list of {np.dtype(kind).name}")
        forest = cls(**{name: frozen(arrays[name], kind) for name, kind in KINDS.items()})
        forest._check(num_features, num_models)
        return forest

    def _check(self, num_features: int, models: int) -> None:
        nodes = len(self.features)
        if any(len(getattr(self, name)) != nodes for name in list(KINDS)[:6]):
            raise DataError("trees: columns of different lengths")
        if len(self.roots) != len(self.members) or len(self.starts) != models:
            raise DataError(f"trees: expected those of {models} models")
        inner = np.flatnonzero(self.features != LEAF)
        within = [
            (self.features[inner], 0, num_features),
            (self.left[inner], inner + 1, nodes),
            (self.right[inner], inner + 1, nodes),
            (self.roots, 0, nodes),
            (self.members, 0, models),
        ]
        if any(((ids < low) | (ids >= high)).any() for ids, low, high in within):
            raise DataError("trees: a node, feature or model that is not there")
        numbers = (self.thresholds[inner], self.values, self.starts)
        if any(np.isnan(column).any() for column in numbers):
            raise DataError("trees: one of the numbers is not a number")

    @classmethod
    def joined(cls, forests: Sequence[Self]) -> Self:
        """All models of these forests, in this order."""
        nodes = offsets_of([len(forest.features) for forest in forests])
        models = offsets_of([len(forest.starts) for forest in forests])
        moved_by = {"left": nodes, "right": nodes, "roots": nodes, "members": models}
        columns = {}
        for name, kind in KINDS.items():
            parts = [getattr(forest, name) for forest in forests]
            if name in moved_by:
                parts = [part + moved_by[name][place] for place, part in enumerate(parts)]
            columns[name] = frozen(np.concatenate(parts), kind)
        return cls(**columns)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def logits(
        self, rows: NDArray[np.float64], asked: NDArray[np.int64]
    ) -> NDArray[np.float64]:  # (row,)
        """The logit of each row (row, feature), by the one model (row,) that is asked about it."""
        out = self.starts[asked]
        by_model = np.argsort(self.members, kind="stable")
        _judge(
            np.ascontiguousarray(rows, np.float64),
            np.argsort(asked, kind="stable"),
            np.searchsorted(np.sort(asked), np.arange(len(self.starts) + 1)),
            self.roots[by_model],
            np.searchsorted(self.members[by_model], np.arange(len(self.starts) + 1)),
            (self.features, self.thresholds, self.left, self.right, self.missing_left, self.values),
            out,
        )
        return out


@njit(nogil=True, cache=True)
def _judge(rows, order, row_offsets, roots, tree_offsets, nodes, out):
    """Adds to `out` (row,), which starts as the logit before any tree.

    A model is asked about the rows order[row_offsets[model]:row_offsets[model + 1]]. A tree looks
    at BLOCK of them before the next one does, so that it is read from the nearest memory.
    """
    features, thresholds, left, right, missing_left, values = nodes
    for model in range(len(row_offsets) - 1):
        end = row_offsets[model + 1]
        for first in range(row_offsets[model], end, BLOCK):
            block = order[first : min(first + BLOCK, end)]
            for tree in range(tree_offsets[model], tree_offsets[model + 1]):
                for row in block:
                    node = roots[tree]
                    while features[node] != LEAF:
                        value = rows[row, features[node]]
                        if np.isnan(value):
                            goes_left = missing_left[node]
                        else:
                            goes_left = value <= thresholds[node]
                        node = left[node] if goes_left else right[node]
                    out[row] += values[node]
