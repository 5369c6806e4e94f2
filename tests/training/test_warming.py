"""A warm start: new rows from entities that share facts, and old numbers that stay near."""

import numpy as np
import pytest
import torch

import toy
from assent.core.queries import Queries, both_ways
from assent.errors import ConfigError
from assent.models import create, names
from assent.training.warming import Alike, Anchor, UpdateSettings, to_learn, warm


def test_a_new_entity_starts_as_the_mean_of_those_with_the_same_answer():
    facts = toy.triples([(0, 0, 2), (1, 0, 2), (3, 0, 2)])  # 3 is new; 0 and 1 have its answer
    rows = Alike.of(facts, 3, 4, 1).rows(torch.tensor([[1.0, 0], [3, 0], [50, 9]]))
    assert rows.shape == (1, 2)
    assert torch.allclose(rows, torch.tensor([[2.0, 0]]), atol=0.05)


def test_rare_answers_count_more():
    facts = toy.triples([(0, 0, 4), (1, 0, 5), (2, 0, 5), (3, 0, 5), (6, 0, 4), (6, 0, 5)])
    alike = Alike.of(facts, 6, 7, 1)
    weights = (alike.shared @ alike.holders).toarray()[0]
    assert weights.sum() == pytest.approx(1)
    assert weights[0] > weights[1:4].sum()


def test_an_entity_that_shares_nothing_starts_as_all_do():
    facts = toy.triples([(0, 0, 1), (2, 1, 3)])  # 2 and 3 are new, and so is all they have
    rows = Alike.of(facts, 2, 4, 2).rows(torch.tensor([1.0, 3.0]))
    assert torch.allclose(rows, torch.tensor([2.0, 2.0]))


@pytest.mark.parametrize("name", [name for name in names() if name != "text"])
def test_old_entities_score_as_before(name):
    facts = toy.triples([(0, 0, 1), (1, 1, 2), (3, 0, 1)])
    old, new = (create(name, size, 2, {"dim": 32}) for size in (3, 4))
    warm(old, new, Alike.of(facts, 3, 4, 2))
    asked = torch.arange(3), torch.tensor([0, 1, 2])
    assert torch.allclose(new.scores(*asked)[:, :3], old.scores(*asked), atol=1e-5)


def test_no_old_number_moves_farther_than_the_radius():
    model = create("distmult", 5, 2, {"dim": 4})
    anchor = Anchor(model, 3, radius=0.1)
    before = model.entities.detach().clone()
    for _ in range(500):
        with torch.no_grad():
            model.entities += 0.01  # as far as a step of Adam at this rate goes
        anchor.pull(0.01)
    moved = (model.entities.detach() - before).abs()
    assert moved[:3].max() <= 0.1 + 1e-5
    assert moved[3:].min() > 4


def test_a_step_that_knows_some_rows_pulls_these_alone():
    model = create("distmult", 5, 2, {"dim": 4})
    before = model.entities.detach().clone()
    anchor = Anchor(model, 3, radius=0.1)
    with torch.no_grad():
        model.entities += 1
    anchor.pull(0.1, torch.tensor([1, 4]))
    moved = (model.entities.detach() - before)[:, 0]
    assert torch.allclose(moved, torch.tensor([1.0, 0, 1, 1, 1]), atol=1e-6)


def test_what_changed_is_learned_whatever_else_is_drawn():
    kb = toy.crowd(0, num_entities=30, num_relations=3, facts_each=6)
    queries = Queries.grouped(*both_ways(kb.facts, 3))
    keys = queries.keys(30)
    changed = keys[:5]
    touched = np.zeros(30, bool)
    touched[queries.anchors[:5]] = True
    for around, most in ((0.0, 5), (1.0, 10), (1e9, len(queries))):
        taken = to_learn(queries, touched, changed, around, 0)
        assert {*changed.tolist()} <= {*taken.keys(30).tolist()}
        assert len(taken) == most


def test_settings_that_make_no_sense_are_refused():
    for wrong in ({"epochs": 0}, {"radius": 0.0}, {"learning_rate": -1.0}, {"around": -1.0}):
        with pytest.raises(ConfigError):
            UpdateSettings(**wrong)
