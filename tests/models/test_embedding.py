"""What all embeddings share: bias, dropout, N3."""

import pytest
import torch

from assent.models import create, names
from models.formulas import made


def test_the_entity_bias_starts_where_it_is_told():
    assert (made("conve", dim=64, bias_start=-4.0).bias == -4).all()
    assert made("distmult").bias.mean() == -6
    assert made("distmult", entity_bias=False).bias is None


def test_dropout_drops_its_share_and_keeps_the_mean():
    model = made("distmult")
    ones = torch.ones(300, 333)
    dropped = model.dropped(ones, 0.3)
    assert dropped.unique().tolist() == pytest.approx([0, 1 / 0.7])
    assert (dropped == 0).float().mean().item() == pytest.approx(0.3, abs=0.005)
    assert (dropped[:, :4] == 0).float().mean(0).tolist() == pytest.approx([0.3] * 4, abs=0.08)
    assert model.dropped(ones, 0.0) is ones
    assert model.eval().dropped(ones, 0.3) is ones


@pytest.mark.parametrize("name", names())
def test_n3_has_a_gradient_for_entities_and_relations(name):
    model = create(name, 5, 2, {"dim": 16}).eval()  # trained, text leaves out vectors at random
    model.n3(torch.tensor([0, 4]), torch.tensor([1, 3])).backward()
    assert torch.isfinite(model.entities.grad).all() and model.entities.grad[[0, 4]].any()
    assert torch.isfinite(model.relations.grad).all() and model.relations.grad.any()
