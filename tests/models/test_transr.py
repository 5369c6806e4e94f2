"""TransR is one minus tanh of a squared distance in the relation's space."""

import pytest
import torch

from assent.errors import ConfigError
from assent.geometry import Answers, projected
from assent.models import create
from models.formulas import ANCHORS, RELATIONS, check, made


@pytest.mark.parametrize("space", [0, 3, 11])
def test_transr_measures_in_the_space_of_the_relation(space):
    def score(m, a, r, e):
        matrix = m.matrices[r]
        gap = a @ matrix + m.relations[r] - m.placed(m.entities)[e] @ matrix
        return torch.logit(1 - (gap**2).sum().double().tanh())

    model = made("transr", space=space)
    assert model.matrices.shape == (4, 8, space or 8)
    torch.nn.init.normal_(model.matrices, std=0.3)
    check(model, score)


def test_it_starts_as_transe_with_the_squared_l2_distance():
    transe, transr = made("transe", norm=2), made("transr")
    transr.load_state_dict(transe.state_dict(), strict=False)
    scores = (model.scores(ANCHORS, RELATIONS) for model in (transe, transr))
    assert torch.allclose(*scores, atol=1e-5)


def test_gradients_do_not_depend_on_how_many_slots_are_kept(monkeypatch):
    model = made("transr")
    answers = Answers(torch.tensor([0, 1, 3, 3, 4]), torch.tensor([2, 0, 5, 1]))
    found = []
    for kept in (0, 8):
        monkeypatch.setattr(projected, "KEPT", kept)
        loss = model.loss(ANCHORS, RELATIONS, answers)
        found.append(torch.autograd.grad(loss, list(model.parameters())))
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)


def test_a_space_of_less_than_nothing_is_refused():
    with pytest.raises(ConfigError, match=r"model\.space: expected 0 or more, found -1"):
        create("transr", 5, 2, {"space": -1})
