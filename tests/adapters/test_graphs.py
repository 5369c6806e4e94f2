"""Graphs of PyTorch Geometric and OGB's arrays come in and go out; stand-ins have their shapes."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import assent
import toy
from assent.core.facts import Split
from assent.errors import DataError

KB = toy.crowd(2, 12, 3, 4)


def named(kb):
    names = kb.vocabulary
    return {(names.entities[h], names.relations[r], names.entities[t]) for h, r, t in kb.facts}


def test_a_graph_goes_to_pyg_and_back():
    data = SimpleNamespace(**assent.to_pyg(KB))
    assert data.edge_index.shape == (2, len(KB.facts)) and data.edge_index.dtype == torch.int64
    names = KB.vocabulary
    again = assent.from_pyg(data, names.entities, names.relations)
    assert named(again) == named(KB)
    assert assent.from_pyg(data).vocabulary.entities[:2] == ("0", "1")


def test_edges_without_types_are_one_relation():
    data = SimpleNamespace(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=4)
    assert named(assent.from_pyg(data, relations=["cites"])) == {
        ("0", "cites", "1"), ("1", "cites", "2"),
    }  # fmt: skip


def test_a_graph_of_several_types_keeps_them_apart():
    class Hetero(dict):
        node_types = ("author", "paper")
        edge_index_dict = {  # noqa: RUF012
            ("author", "writes", "paper"): torch.tensor([[0, 1], [1, 0]]),
            ("paper", "cites", "paper"): torch.tensor([[0], [1]]),
            ("author", "cites", "author"): torch.tensor([[1], [0]]),
        }

    data = Hetero(author=SimpleNamespace(num_nodes=2), paper=SimpleNamespace(num_nodes=2))
    assert named(assent.from_pyg(data)) == {
        ("author/0", "writes", "paper/1"),
        ("author/1", "writes", "paper/0"),
        ("paper/0", "paper/cites/paper", "paper/1"),
        ("author/1", "author/cites/author", "author/0"),
    }


def test_splits_go_to_ogb_and_back():
    splits = np.arange(len(KB.facts)) % 3
    kb = type(KB).of_ids(KB.vocabulary, KB.facts, splits.astype(np.int8))
    arrays = assent.to_ogb(kb)
    assert set(arrays) == {"train", "valid", "test"} and len(arrays["test"]["head"])
    again = assent.from_ogb(arrays, kb.vocabulary.entities, kb.vocabulary.relations)
    assert np.array_equal(again.facts, kb.facts) and np.array_equal(again.splits, kb.splits)
    assert len(assent.from_ogb({"train": arrays["train"]}).part(Split.TRAIN))


def test_what_does_not_fit_is_said():
    data = SimpleNamespace(edge_index=torch.tensor([[0], [9]]), num_nodes=4)
    with pytest.raises(DataError, match="ids beyond 4 entities"):
        assent.from_pyg(data)
    with pytest.raises(DataError, match="expected whole numbers"):
        assent.from_ogb({"train": {"head": [0.5], "relation": [0], "tail": [1]}})
    with pytest.raises(DataError, match="type by type"):
        assent.from_ogb({"train": {"head": [0], "relation": [0], "tail": [1], "head_type": ["a"]}})
    with pytest.raises(DataError, match="no split"):
        assent.from_ogb({})
