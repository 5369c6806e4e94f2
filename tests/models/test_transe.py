"""TransE is one minus tanh of a distance."""

import pytest
import torch

from assent.models.transe import _Normalised
from models.formulas import check, made


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("normalize", [True, False])
def test_transe_is_one_minus_tanh_of_the_distance(norm, normalize):
    def score(m, a, r, e):
        distance = (a + m.relations[r] - m.placed(m.entities)[e]).abs().pow(norm).sum()
        return torch.logit(1 - distance.double().tanh())

    check(made("transe", norm=norm, normalize=normalize, init_scale=0.3), score)


def test_without_reciprocal_relations_a_fact_scores_the_same_from_either_side():
    for name in ("transe", "region"):
        model = made(name, reciprocal=False)
        tails = model.scores(torch.arange(6), torch.full((6,), 1))
        heads = model.scores(torch.arange(6), torch.full((6,), 1 + 2))
        assert torch.allclose(tails, heads.T, atol=1e-5)
        assert len(model.relations) == 2


def test_normalised_entities_have_length_one():
    assert torch.allclose(made("transe").entity_table().vectors.norm(dim=1), torch.ones(6))


def test_normalising_gives_the_gradient_of_torch():
    vectors = torch.randn(7, 5, dtype=torch.float64, requires_grad=True)
    slopes = torch.randn(7, 5, dtype=torch.float64)
    found, plain = _Normalised.apply(vectors), torch.nn.functional.normalize(vectors)
    assert torch.allclose(found, plain)
    pairs = [torch.autograd.grad(normalised, vectors, slopes)[0] for normalised in (found, plain)]
    assert torch.allclose(*pairs)
