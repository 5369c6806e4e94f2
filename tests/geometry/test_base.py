"""Every geometry: the score of a pair is that of its cell, with and without slices."""

import pytest
import torch

import geometry_oracles as oracles
from assent.geometry import Asked, Dot, Manhattan, Squared, Table

SIZES = [(1, 1, 1), (3, 5, 4), (4, 7, 16)]


@pytest.mark.parametrize(("queries", "entities", "dim"), SIZES)
@pytest.mark.parametrize("name", ["dot", "dot with bias", "squared", "manhattan"])
def test_pairs_and_slices_score_as_the_whole(name, queries, entities, dim):
    rng = torch.Generator().manual_seed(0)
    vectors, table = (torch.randn(n, dim, generator=rng) * 0.3 for n in (queries, entities))
    bias = torch.randn(entities, generator=rng) if "bias" in name else None
    kind = {"dot": Dot, "squared": Squared, "manhattan": Manhattan}[name.split()[0]]
    whole = kind(Asked(vectors), Table(table, bias)).scores()
    slow = getattr(oracles, name.split()[0])(vectors, None, table, bias)
    assert torch.allclose(whole, slow, rtol=1e-4, atol=1e-4)
    cut = entities // 2
    parts = [Table(table, bias).part(a, b) for a, b in ((0, cut), (cut, entities))]
    scores = [kind(Asked(vectors), part).scores() for part in parts if len(part.vectors)]
    assert torch.allclose(torch.cat(scores, 1), whole, rtol=1e-4, atol=1e-5)
    ids = torch.arange(queries) % entities
    chosen = Table(table[ids], None if bias is None else bias[ids])
    found = kind(Asked(vectors), chosen).pairs()
    assert torch.allclose(found, whole[torch.arange(queries), ids], rtol=1e-4, atol=1e-4)


def test_the_weights_of_the_squared_distance_count_by_dimension():
    vectors, table = torch.tensor([[1.0, 2.0]]), torch.tensor([[0.0, 0.0], [1.0, 0.0]])
    raw = torch.empty(1, 2)
    Squared(Asked(vectors, torch.tensor([[3.0, 0.5]])), Table(table)).measure(raw)
    assert raw.tolist() == [[3 * 1 + 0.5 * 4, 0.5 * 4]]


def test_the_manhattan_distance_adds_up_absolute_differences():
    raw = torch.empty(1, 2)
    table = torch.tensor([[0.0, 0.0], [1.0, 5.0]])
    Manhattan(Asked(torch.tensor([[1.0, -2.0]])), Table(table)).measure(raw)
    assert raw.tolist() == [[3.0, 7.0]]
