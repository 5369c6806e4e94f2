"""Several models as one."""

import pytest
import torch

from assent.errors import ConfigError
from assent.geometry import Answers
from assent.models import create, names, settings_of
from assent.models.base import Terms, Told

ANCHORS = torch.tensor([0, 3, 6, 6])
RELATIONS = torch.tensor([0, 1, 2, 5])
ANSWERS = Answers(torch.tensor([0, 1, 3, 3, 4]), torch.tensor([2, 0, 5, 1]))


@pytest.fixture(params=names())
def trio(request):
    torch.manual_seed(4)
    return create(request.param, 7, 3, {"dim": 16, "members": 3})


def mean(parts):
    return torch.stack(list(parts)).mean(0)


def test_scores_are_the_mean_of_the_members(trio):
    expected = mean(member.scores(ANCHORS, RELATIONS) for member in trio)
    torch.testing.assert_close(trio.scores(ANCHORS, RELATIONS), expected)
    expected = mean(member.pairs(ANCHORS, RELATIONS, ANCHORS) for member in trio)
    torch.testing.assert_close(trio.pairs(ANCHORS, RELATIONS, ANCHORS), expected)


@pytest.mark.parametrize("bias", [True, False])
def test_large_matrices_of_products_are_the_mean_too(monkeypatch, bias):
    monkeypatch.setattr("assent.geometry.dot.LARGE", 1)  # 7 entities then leave ragged rows
    torch.manual_seed(4)
    trio = create("complex", 7, 3, {"dim": 16, "members": 3, "entity_bias": bias})
    scores = trio.scores(ANCHORS, RELATIONS)
    assert scores.is_contiguous()
    expected = mean(member.scores(ANCHORS, RELATIONS) for member in trio)
    torch.testing.assert_close(scores, expected)


def test_members_start_from_other_random_numbers(trio):
    first, second, third = (member.scores(ANCHORS, RELATIONS) for member in trio)
    assert not torch.allclose(first, second)
    assert not torch.allclose(second, third)


def test_each_member_learns_as_if_it_were_alone(trio):
    trio.eval()  # no dropout, which would draw for one member after another
    loss = trio.loss(ANCHORS, RELATIONS, ANSWERS) + 0.1 * trio.n3(ANCHORS, RELATIONS)
    loss.backward()
    together = [[x.grad.clone() for x in member.parameters()] for member in trio]
    for member, gradients in zip(trio, together, strict=True):
        alone = member.loss(ANCHORS, RELATIONS, ANSWERS) + 0.1 * member.n3(ANCHORS, RELATIONS)
        for one, other in zip(
            torch.autograd.grad(alone, list(member.parameters())), gradients, strict=True
        ):
            torch.testing.assert_close(one / 3, other)


def test_the_terms_of_a_loss_together_are_what_they_are_apart(trio):
    trio.eval()
    told = Told(torch.tensor([3, 1, 0]), torch.tensor([1, 5, 2]))
    terms = trio.terms(ANCHORS, RELATIONS, ANSWERS, n3=True, told=told)
    apart = Terms(
        trio.loss(ANCHORS, RELATIONS, ANSWERS),
        trio.n3(ANCHORS, RELATIONS),
        trio.relation_loss(torch.tensor([6, 3, 0]), torch.tensor([5, 1, 0]), told.entities),
    )
    torch.testing.assert_close(tuple(terms), tuple(apart))
    parameters = list(trio.parameters())
    for one, other in zip(
        torch.autograd.grad(terms.loss + 0.1 * terms.n3 + 2 * terms.relation, parameters),
        torch.autograd.grad(apart.loss + 0.1 * apart.n3 + 2 * apart.relation, parameters),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_terms_that_a_step_does_without_are_not_worked_out(trio):
    assert trio.terms(ANCHORS, RELATIONS, ANSWERS)[1:] == (None, None)


def test_each_member_tells_relations_as_if_it_were_alone(trio):
    trio.eval()
    facts = ANCHORS, RELATIONS, torch.tensor([2, 0, 5, 1])
    expected = mean(member.relation_loss(*facts) for member in trio)
    torch.testing.assert_close(trio.relation_loss(*facts), expected)


def test_members_of_complex_are_one_complex_with_all_their_dimensions():
    torch.manual_seed(5)
    trio = create("complex", 7, 3, {"dim": 4, "members": 3})
    one = create("complex", 7, 3, {"dim": 12})

    def joined(name):
        halves = [getattr(member, name).detach().chunk(2, dim=1) for member in trio]
        return torch.cat([part for half in zip(*halves, strict=True) for part in half], dim=1)

    with torch.no_grad():
        one.entities.copy_(joined("entities"))
        one.relations.copy_(joined("relations") / 3)
        one.bias.copy_(mean(member.bias for member in trio))
    torch.testing.assert_close(one.scores(ANCHORS, RELATIONS), trio.scores(ANCHORS, RELATIONS))


def test_a_single_member_is_the_model_itself():
    assert type(create("complex", 7, 3, {"members": 1})).__name__ == "ComplEx"


def test_fewer_members_than_none_are_refused():
    with pytest.raises(ConfigError, match=r"model\.members: expected 0 or more, found -1"):
        settings_of("complex", {"members": -1})
