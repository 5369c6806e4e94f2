"""What all embeddings share: bias, dropout, N3."""

import pytest
import torch

from assent.geometry import Answers
from assent.geometry.loss import LOSSES
from assent.models import create, names
from models.formulas import made

ANCHORS, SLOTS = torch.tensor([0, 4, 2, 0, 3]), torch.tensor([1, 3, 0, 2, 0])
ANSWERS = Answers(torch.tensor([0, 1, 4, 4, 6, 7]), torch.tensor([2, 0, 1, 3, 1, 4, 0]))


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
    model = create(name, 5, 2, {"dim": 16}).eval()  # text leaves out some entities in training
    model.n3(torch.tensor([0, 4]), torch.tensor([1, 3])).backward()
    assert torch.isfinite(model.entities.grad).all() and model.entities.grad[[0, 4]].any()
    assert torch.isfinite(model.relations.grad).all() and model.relations.grad.any()


def of_queries(name, members, loss):
    torch.manual_seed(0)
    model = create(name, 5, 2, {"dim": 16, "members": members}).double().eval()
    return model, model.terms(ANCHORS, SLOTS, ANSWERS, n3=True, loss=loss).n3


@pytest.mark.parametrize("members", [1, 2])
@pytest.mark.parametrize("name", names())
def test_where_facts_count_alike_n3_is_that_of_single_facts(name, members):
    """As many copies of a query as it has answers, each of them weighed alone."""
    model, found = of_queries(name, members, "ce-facts")
    copies = ANSWERS.counts
    expected = model.n3(ANCHORS.repeat_interleave(copies), SLOTS.repeat_interleave(copies))
    torch.testing.assert_close(found, expected)
    parameters = list(model.parameters())
    of_facts, of_copies = (
        torch.autograd.grad(n3, parameters, allow_unused=True) for n3 in (found, expected)
    )
    for one, other in zip(of_facts, of_copies, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("loss", sorted({*LOSSES} - {"ce-facts"}))
@pytest.mark.parametrize("name", names())
def test_where_queries_count_alike_so_they_do_in_n3(name, loss):
    model, found = of_queries(name, 1, loss)
    assert torch.equal(found, model.n3(ANCHORS, SLOTS))
