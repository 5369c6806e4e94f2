"""Region weighs the dimensions of a squared distance."""

import pytest
import torch

from models.formulas import ANCHORS, RELATIONS, check, made


@pytest.mark.parametrize("pace", [1.0, 5.0])
@pytest.mark.parametrize("shape", ["ellipse", "sphere"])
def test_region_weighs_each_dimension_of_the_squared_distance(shape, pace):
    def score(m, a, r, e):
        weights = m.log_weights[r].exp() ** pace
        gap = a + m.relations[r] - m.placed(m.entities)[e]
        return torch.logit(1 - (weights * gap**2).sum().double().tanh())

    model = made("region", shape=shape, pace=pace)
    torch.nn.init.normal_(model.log_weights, std=1 / pace)
    assert model.log_weights.shape == (4, 8 if shape == "ellipse" else 1)
    check(model, score)


@pytest.mark.parametrize("shape", ["ellipse", "sphere"])
def test_transe_with_squared_l2_is_region_with_all_weights_one(shape):
    transe, region = made("transe", norm=2), made("region", shape=shape)
    region.load_state_dict(transe.state_dict(), strict=False)
    assert torch.equal(region.log_weights, torch.zeros_like(region.log_weights))
    scores = (model.scores(ANCHORS, RELATIONS) for model in (transe, region))
    assert torch.allclose(*scores, atol=1e-5)
