"""Boosted trees as plain arrays: nothing in a file of them can run."""

# mypy: ignore-errors
# Numba checks the types of the loop, in its own way.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from assent.core.arrays import frozen
from assent.errors import DataError

LEAF = -1
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
    def of_models(cls, models: Sequence[Any]) -> Self:
        """From scikit-learn's HistGradientBoostingClassifier, which has no public way to this."""
        parts, roots, members, size = [], [], [], 0
        for member, model in enumerate(models):
            for (predictor,) in model._predictors:
                parts.append(_moved(predictor.nodes, size))
                roots.append(size)
                members.append(member)
                size += len(predictor.nodes)
        starts = [model._baseline_prediction.item() for model in models]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        kinds = KINDS.values()
        columns += [roots, members, starts]
        return cls(*(frozen(column, kind) for column, kind in zip(columns, kinds, strict=True)))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def logits(
        self, rows: NDArray[np.float64], asked: NDArray[np.int64]
    ) -> NDArray[np.float64]:  # (row,)
        """The logit of each row (row, feature), by the one model (row,) that is asked about it."""
        out = self.starts[asked]
        _judge(
            np.ascontiguousarray(rows, np.float64), asked, *list(self.arrays().values())[:-1], out
        )
        return out


def _moved(nodes: NDArray[Any], start: int) -> list[NDArray[Any]]:
    """The columns of a tree whose first node stands at `start` among all nodes."""
    leaf = nodes["is_leaf"].astype(bool)
    return [
        np.where(leaf, LEAF, nodes["feature_idx"]),
        np.where(leaf, 0, nodes["num_threshold"]),
        np.where(leaf, 0, nodes["left"].astype(np.int64) + start),
        np.where(leaf, 0, nodes["right"].astype(np.int64) + start),
        nodes["missing_go_to_left"].astype(bool),
        np.where(leaf, nodes["value"], 0),
    ]


@njit(nogil=True, cache=True)
def _judge(
    rows, asked, features, thresholds, left, right, missing_left, values, roots, members, out
):
    """Adds to `out` (row,), which starts as the logit before any tree."""
    for i in range(len(rows)):
        for tree in range(len(roots)):
            if members[tree] != asked[i]:
                continue
            node = roots[tree]
            while features[node] != LEAF:
                value = rows[i, features[node]]
                goes_left = missing_left[node] if np.isnan(value) else value <= thresholds[node]
                node = left[node] if goes_left else right[node]
            out[i] += values[node]
