"""Every geometry: the score of a pair is that of its cell, with and without slices."""

import pytest
import torch

from assent.geometry import Absolute, Asked, Dot, Hyperplane, Manhattan, Projected, Squared, Table
from assent.geometry.dot import LARGE
from assent.geometry.threads import one_thread
from geometry.test_loss import GEOMETRIES, as_float32, asked_of, case, slow

SIZES = [(1, 1, 1), (3, 5, 4), (4, 7, 16)]


@pytest.mark.parametrize(("queries", "entities", "dim"), SIZES)
@pytest.mark.parametrize("name", GEOMETRIES)
def test_pairs_and_slices_score_as_the_whole(name, queries, entities, dim):
    kind, _ = GEOMETRIES[name]
    exact = case(name, queries, entities, dim, seed=0)
    with torch.no_grad():
        exact[0] += 0.1  # a distance of zero is lost to cancellation in float32
        inputs = as_float32(exact)
        table, bias = inputs[2:]
        asked = asked_of(name, inputs)
        whole = kind(asked, Table(table, bias)).scores()
        assert torch.allclose(whole.double(), slow(name, exact), rtol=1e-4, atol=1e-3)
        cut = entities // 2
        parts = [Table(table, bias).part(a, b) for a, b in ((0, cut), (cut, entities))]
        scores = [kind(asked, part).scores() for part in parts if len(part.vectors)]
        assert torch.allclose(torch.cat(scores, 1), whole, rtol=1e-4, atol=1e-4)
        ids = torch.arange(queries) % entities
        chosen = Table(table[ids], None if bias is None else bias[ids])
        found = kind(asked, chosen).pairs()
    assert torch.allclose(found, whole[torch.arange(queries), ids], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("entities", [4 * 1024, 4 * 1024 + 7])  # rows start in registers, or not
@pytest.mark.parametrize("with_bias", [False, True])
def test_tiles_have_the_bits_of_each_tile_by_itself(with_bias, entities):
    generator = torch.Generator().manual_seed(entities)
    vectors, table = (torch.randn(n, 8, generator=generator) for n in (65, entities))
    bias = torch.randn(entities, generator=generator) if with_bias else None
    with one_thread():
        whole = Dot(Asked(vectors), Table(table, bias)).scores_in_tiles(1024)
        assert whole.is_contiguous() and whole.numel() > LARGE
        for start in range(0, entities, 1024):
            part = Table(table, bias).part(start, start + 1024)
            alone = Dot(Asked(vectors), part).scores_in_tiles(1024)
            assert torch.equal(whole[:, start : start + 1024], alone)


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


def test_a_distance_on_a_hyperplane_leaves_the_normal_out():
    raw = torch.empty(1, 2)
    normal = torch.tensor([[1.0, 0.0]])
    table = torch.tensor([[9.0, 2.0], [1.0, -1.0]])
    Hyperplane(Asked(torch.tensor([[1.0, 2.0]]), normal), Table(table)).measure(raw)
    assert raw.tolist() == [[0.0, 9.0]]


def test_each_slot_projects_the_entities_in_its_own_way():
    raw = torch.empty(2, 1)
    matrices = torch.tensor([[[1.0], [0.0]], [[0.0], [2.0]]])  # keeps the first; twice the second
    asked = Asked(torch.tensor([[1.0], [1.0]]), matrices, torch.tensor([1, 0]))
    Projected(asked, Table(torch.tensor([[5.0, 3.0]]))).measure(raw)
    assert raw.tolist() == [[(1 - 6) ** 2], [(1 - 5) ** 2]]


def test_a_metric_weighs_products_of_absolute_differences():
    raw = torch.empty(1, 1)
    metric = torch.tensor([[[1.0, 0.5], [0.5, 3.0]]])
    asked = Asked(torch.tensor([[0.0, 0.0]]), metric, torch.tensor([0]))
    Absolute(asked, Table(torch.tensor([[2.0, -1.0]]))).measure(raw)
    assert raw.item() == 1 * 4 + 2 * 0.5 * 2 + 3 * 1
