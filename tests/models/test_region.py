"""Region weighs the dimensions of a squared distance."""

import pytest
import torch

from assent.geometry import Answers
from models.formulas import ANCHORS, RELATIONS, check, made


@pytest.mark.parametrize("anchor", ["plain", "scaled"])
@pytest.mark.parametrize("pace", [1.0, 5.0])
@pytest.mark.parametrize("shape", ["ellipse", "sphere"])
def test_region_weighs_each_dimension_of_the_squared_distance(shape, pace, anchor):
    def score(m, a, r, e):
        weights = m.log_weights[r].exp() ** pace
        start = a if anchor == "plain" else m.scales[r] * a
        gap = start + m.relations[r] - m.placed(m.entities)[e]
        return torch.logit(1 - (weights * gap**2).sum().double().tanh())

    model = made("region", shape=shape, pace=pace, anchor=anchor)
    if anchor == "scaled":
        torch.nn.init.normal_(model.scales, std=0.5)
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


@pytest.mark.parametrize("pace", [1.0, 5.0])
def test_weights_start_where_they_are_told(pace):
    weights = made("region", start=4.0, pace=pace).weights(RELATIONS)
    assert torch.allclose(weights, torch.full((4, 8), 4.0))


def learned(anchor):
    """After training on three pairs that hold in both directions: scores of all six entities."""
    model = made("region", anchor=anchor, start=4.0, pace=5.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    anchors, relations = torch.arange(6), torch.zeros(6, dtype=torch.int64)
    answers = Answers(torch.arange(7), torch.tensor([1, 0, 3, 2, 5, 4]))
    for _ in range(400):
        optimizer.zero_grad()
        model.loss(anchors, relations, answers).backward()
        optimizer.step()
    return model.scores(anchors, relations)


def test_only_a_scaled_anchor_learns_what_holds_in_both_directions():
    """A plain one takes the anchor itself for an answer, half of the time at least."""
    pairs, others = torch.tensor([1, 0, 3, 2, 5, 4]), torch.arange(6)
    plain, scaled = learned("plain"), learned("scaled")
    assert (plain[others, others] >= plain[others, pairs]).sum() >= 3
    assert (scaled.argmax(1) == pairs).all()
