"""RESCAL is its formula, and so are its gradients."""

import torch

from assent.models.rescal import turned
from models.formulas import check, made


def test_rescal():
    check(
        made("rescal"),
        lambda m, a, r, e: a @ m.relations[r] @ m.entities[e] + m.bias[e],
    )


def test_rescal_gives_the_gradients_of_the_plain_formula():
    model = made("rescal").double()
    relations = torch.tensor([3, 0, 3, 1, 0])
    vectors = torch.randn(5, 8, dtype=torch.float64, requires_grad=True)
    found = turned(vectors, model.relations, relations)
    plain = torch.bmm(vectors[:, None], model.relations[relations])[:, 0]
    assert torch.allclose(found, plain)
    slopes = torch.randn_like(plain)
    inputs = vectors, model.relations
    pairs = (torch.autograd.grad(rows, inputs, slopes) for rows in (found, plain))
    for mine, theirs in zip(*pairs, strict=True):
        assert torch.allclose(mine, theirs)
