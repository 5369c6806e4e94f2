"""DistMult is its formula."""

from models.formulas import check, made


def test_distmult():
    check(
        made("distmult"),
        lambda m, a, r, e: (a * m.relations[r] * m.entities[e]).sum() + m.bias[e],
    )
