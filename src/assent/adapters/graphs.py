"""Graphs of PyTorch Geometric and arrays in OGB's manner, as knowledge bases and back.

Neither library is imported: what has the same attributes or keys is taken.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assent.core.arrays import Ids
from assent.core.facts import KnowledgeBase, Split
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError

SPLITS = {"train": Split.TRAIN, "valid": Split.VALID, "test": Split.TEST}


def from_pyg(
    data: Any, entities: Sequence[str] | None = None, relations: Sequence[str] | None = None
) -> KnowledgeBase:
    """A graph of PyTorch Geometric: `Data` with `edge_type`, or `HeteroData`.

    Without names, entities are called by their numbers: `7`, in a HeteroData `author/7`. The
    relations of a HeteroData have the names of its edge types; two that share a middle part are
    told apart by their ends.
    """
    if hasattr(data, "edge_index_dict"):
        return _from_hetero(data)
    kinds = getattr(data, "edge_type", None)
    heads, tails = _ids(data.edge_index)
    rows = np.zeros_like(heads) if kinds is None else _ids(kinds)
    entities = _names(entities, int(data.num_nodes))
    relations = _names(relations, int(rows.max(initial=-1)) + 1)
    return _kb(entities, relations, np.stack([heads, rows, tails], axis=1))


def _from_hetero(data: Any) -> KnowledgeBase:
    edges = {kind: _ids(index) for kind, index in data.edge_index_dict.items()}
    middles = [kind[1] for kind in edges]
    called = [k[1] if middles.count(k[1]) == 1 else "/".join(k) for k in edges]
    sizes = {kind: int(data[kind].num_nodes) for kind in data.node_types}
    first = dict(zip(sizes, np.cumsum([0, *sizes.values()]), strict=False))
    entities = [f"{kind}/{place}" for kind, size in sizes.items() for place in range(size)]
    facts = [
        np.stack([first[head] + index[0], np.full(index.shape[1], row), first[tail] + index[1]], 1)
        for row, ((head, _, tail), index) in enumerate(edges.items())
    ]
    return _kb(entities, called, np.concatenate([np.empty((0, 3), np.int64), *facts]))


def to_pyg(kb: KnowledgeBase) -> dict[str, Any]:
    """What `torch_geometric.data.Data(**to_pyg(kb))` takes: edges, their types, the entities."""
    heads, relations, tails = torch.from_numpy(kb.facts.astype(np.int64)).T
    return {
        "edge_index": torch.stack([heads, tails]),
        "edge_type": relations.clone(),
        "num_nodes": kb.vocabulary.num_entities,
    }


def from_ogb(
    split: Mapping[str, Mapping[str, Any]],
    entities: Sequence[str] | None = None,
    relations: Sequence[str] | None = None,
) -> KnowledgeBase:
    """Arrays as OGB's `get_edge_split()` gives them: head, relation and tail of each split.

    Without names, entities and relations are called by their numbers. Graphs whose entities are
    numbered type by type (`head_type`) are refused: their numbers name several entities.
    """
    parts, marks = [], []
    for name, mark in SPLITS.items():
        if name not in split:
            continue
        if "head_type" in split[name]:
            raise DataError(f"{name}: entities numbered type by type; add an offset for each type")
        part = np.stack([_ids(split[name][key]) for key in ("head", "relation", "tail")], axis=1)
        parts.append(part)
        marks.append(np.full(len(part), mark, np.int8))
    if not parts:
        raise DataError(f"no split; expected one of {', '.join(SPLITS)}")
    facts = np.concatenate(parts)
    entities = _names(entities, int(facts[:, [0, 2]].max(initial=-1)) + 1)
    relations = _names(relations, int(facts[:, 1].max(initial=-1)) + 1)
    return _kb(entities, relations, facts, np.concatenate(marks))


def to_ogb(kb: KnowledgeBase) -> dict[str, dict[str, Ids]]:
    """A graph as OGB's `get_edge_split()` gives it: head, relation and tail of each split."""
    columns = ("head", "relation", "tail")
    parts = {name: kb.part(mark) for name, mark in SPLITS.items()}
    return {
        name: dict(zip(columns, facts.T.astype(np.int64), strict=True))
        for name, facts in parts.items()
        if len(facts)
    }


def _ids(given: Any) -> Any:
    values = given.detach().cpu().numpy() if isinstance(given, Tensor) else np.asarray(given)
    if values.dtype.kind not in "iu":
        raise DataError(f"ids of type {values.dtype}; expected whole numbers")
    return values.astype(np.int64)


def _names(given: Sequence[str] | None, count: int) -> Sequence[str]:
    return [str(place) for place in range(count)] if given is None else given


def _kb(
    entities: Sequence[str], relations: Sequence[str], facts: Any, splits: Any = None
) -> KnowledgeBase:
    sizes = np.array([len(entities), len(relations), len(entities)])
    if ((facts < 0) | (facts >= sizes)).any():
        raise DataError(f"ids beyond {len(entities):,} entities, {len(relations):,} relations")
    names = Vocabulary(tuple(entities), tuple(relations))
    return KnowledgeBase.of_ids(names, facts.astype(np.int32), splits)
