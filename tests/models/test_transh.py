"""TransH is one minus tanh of a squared distance on the relation's hyperplane."""

import pytest
import torch

from models.formulas import ANCHORS, RELATIONS, check, made


@pytest.mark.parametrize("normalize", [True, False])
def test_transh_projects_all_three_onto_the_hyperplane(normalize):
    def score(m, a, r, e):
        normal = m.normals[r] / m.normals[r].norm()
        on_it = (x - (normal @ x) * normal for x in (a, m.relations[r], m.placed(m.entities)[e]))
        anchor, move, entity = on_it
        return torch.logit(1 - ((anchor + move - entity) ** 2).sum().double().tanh())

    check(made("transh", normalize=normalize, init_scale=0.5), score)


def test_what_lies_along_the_normal_changes_no_score():
    model = made("transh", normalize=False)
    with torch.no_grad():
        model.normals[:] = model.normals[0]  # one hyperplane for all
        before = model.scores(ANCHORS, RELATIONS)
        model.entities += torch.randn(6, 1) * model.normals[0]
        model.relations += torch.randn(4, 1) * model.normals[0]
    assert torch.allclose(model.scores(ANCHORS, RELATIONS), before, rtol=1e-3, atol=1e-3)
