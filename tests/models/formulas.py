"""Formulas in plain loops, to compare models with."""

import torch

from assent.models import create

ANCHORS, RELATIONS = torch.tensor([0, 3, 4, 1]), torch.tensor([0, 1, 2, 3])


def made(name, **settings):
    torch.manual_seed(0)
    return create(name, 6, 2, {"dim": 8, **settings})


def expected(model, score):
    return torch.tensor(
        [
            [score(model, model.placed(model.entities)[a], r, e) for e in range(6)]
            for a, r in zip(ANCHORS.tolist(), RELATIONS.tolist(), strict=True)
        ],
        dtype=torch.float64,
    )


def check(model, score):
    found = model.scores(ANCHORS, RELATIONS)
    with torch.no_grad():
        assert torch.allclose(found.double(), expected(model, score), rtol=1e-4, atol=1e-5)
