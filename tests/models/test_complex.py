"""ComplEx is its formula, over complex numbers."""

import pytest
import torch

from assent.models import create
from models.formulas import check, made


def test_complex():
    def score(m, a, r, e):
        anchor, relation, entity = (
            torch.complex(*x.chunk(2)) for x in (a, m.relations[r], m.entities[e])
        )
        return (anchor * relation * entity.conj()).sum().real + m.bias[e]

    check(made("complex"), score)


def test_n3_adds_up_the_cubed_lengths_of_complex_numbers():
    model = create("complex", 3, 1, {"dim": 4})
    with torch.no_grad():
        model.entities[0] = torch.tensor([3.0, 0.0, 4.0, 1.0])  # 3 + 4i, 1i
        model.relations[1] = torch.tensor([0.0, 2.0, 0.0, 0.0])  # 0, 2
    found = model.n3(torch.tensor([0, 0]), torch.tensor([1, 1]))
    assert found.item() == pytest.approx(5**3 + 1 + 2**3)
