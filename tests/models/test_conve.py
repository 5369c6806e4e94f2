"""ConvE is a convolution over a picture."""

import pytest
import torch

from assent.models.conve import picture
from models.formulas import ANCHORS, RELATIONS, made


@pytest.mark.parametrize(
    ("dim", "shape"), [(64, (8, 8)), (128, (16, 8)), (200, (20, 10)), (100, (10, 10)), (7, (7, 1))]
)
def test_a_picture_is_as_square_as_it_can_be(dim, shape):
    assert picture(dim) == shape


def test_conve_is_a_convolution_over_the_picture_of_anchor_and_relation():
    model = made("conve", dim=12, channels=5)
    for norm in (model.input_norm, model.feature_norm, model.query_norm):
        torch.nn.init.uniform_(norm.weight)
        torch.nn.init.uniform_(norm.running_mean)
    model.eval()
    with torch.no_grad():
        pairs = torch.cat([model.entities[ANCHORS], model.relations[RELATIONS]], dim=1)
        x = model.input_norm(pairs.view(4, 1, 8, 3))
        x = torch.nn.functional.conv2d(x, model.filters.weight.view(5, 1, 3, 3))
        places = x.permute(0, 2, 3, 1).reshape(-1, 5)
        x = model.feature_norm(places).relu().view(4, -1)
        queries = model.query_norm(model.projection(x)).relu()
        expected = queries @ model.entities.T + model.bias
    assert torch.allclose(model.scores(ANCHORS, RELATIONS), expected, atol=1e-5)
