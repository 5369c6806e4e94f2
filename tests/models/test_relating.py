"""Asking for the relation of two entities, beside plain loops and autograd in float64."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import geometry_oracles
from assent.geometry import Absolute, Dot, Hyperplane, Manhattan, Projected, Squared
from assent.models import create, names
from assent.models.distmult import DistMult
from assent.models.relating import CELLS, relation_loss, scores_by_slot, slot_scores
from assent.models.transe import Translation

ENTITIES, RELATIONS, DIM = 7, 3, 16
VARIANTS = [
    *((name, {}) for name in names()),
    ("transe", {"norm": 2}),
    ("transe", {"reciprocal": False, "normalize": False}),
    ("transh", {"reciprocal": False}),
    ("transr", {"space": 4, "reciprocal": False}),
    ("transa", {"metric": "diagonal"}),
    ("region", {"shape": "sphere", "pace": 5.0}),
    ("region", {"anchor": "scaled", "start": 4.0}),
]
ORACLES = {
    Dot: geometry_oracles.dot,
    Squared: geometry_oracles.squared,
    Manhattan: geometry_oracles.manhattan,
    Hyperplane: geometry_oracles.hyperplane,
    Projected: geometry_oracles.projected,
    Absolute: geometry_oracles.absolute,
}


def made(name, settings, seed=0):
    torch.manual_seed(seed)
    model = create(name, ENTITIES, RELATIONS, {"dim": DIM, **settings}).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():  # starts that are alike would hide what is mixed up
            parameter += 0.1 * torch.randn_like(parameter)
    return model


def slowly(model, anchors, slots, entities):
    """Fact by fact and slot by slot: a query with one candidate, and autograd over all of it."""
    loss = 0.0
    for anchor, slot, entity in zip(anchors, slots, entities, strict=True):
        scores = []
        for other in range(2 * RELATIONS):
            asked = model.ask(anchor[None], torch.tensor([other]))
            weights = asked.weights if asked.owners is None else asked.weights[asked.owners]
            vectors = model.entity_table(entity[None]).vectors
            scores.append(ORACLES[model.geometry](asked.vectors, weights, vectors, None)[0, 0])
        loss = loss - torch.stack(scores).log_softmax(0)[slot]
    return loss / len(anchors)


def gradients(loss, model):
    parts = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
    zeros = map(torch.zeros_like, model.parameters())
    return [zero if part is None else part for part, zero in zip(parts, zeros, strict=True)]


@pytest.mark.parametrize(("name", "settings"), VARIANTS)
@given(seed=st.integers(0, 99), count=st.integers(1, 6))
def test_loss_and_gradients_are_those_of_plain_loops_in_float64(name, settings, seed, count):
    model = made(name, settings, seed)
    anchors, entities = torch.randint(ENTITIES, (2, count))
    slots = torch.randint(2 * RELATIONS, (count,))
    found, expected = (
        model.relation_loss(anchors, slots, entities),
        slowly(model, anchors, slots, entities),
    )
    torch.testing.assert_close(found, expected)
    for one, other in zip(gradients(found, model), gradients(expected, model), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(("name", "settings"), VARIANTS)
def test_every_way_to_the_scores_gives_those_of_single_facts(name, settings):
    model = made(name, settings)
    anchors, entities, slots = torch.tensor([0, 3, 6]), torch.tensor([5, 3, 1]), torch.arange(6)
    ends = [model.placed(model.vectors_of(ids)) for ids in (anchors, entities)]
    singly = torch.stack([model.pairs(anchors, slot.expand(3), entities) for slot in slots], dim=1)
    if model.bias is not None:
        singly -= model.bias[entities, None]
    if name == "text":
        singly -= model.entity_table(entities).bias[:, None] - model.bias[entities, None]
    torch.testing.assert_close(slot_scores(model, *ends), singly)
    torch.testing.assert_close(scores_by_slot(model, *ends, slots), singly)


@pytest.mark.parametrize("name", names())
def test_relations_that_are_asked_for_are_learned(name):
    torch.manual_seed(0)
    model = create(name, ENTITIES, RELATIONS, {"dim": DIM, "query_dropout": 0.0})
    anchors, entities = torch.tensor([0, 1, 2]), torch.tensor([4, 5, 6])
    slots = torch.tensor([0, 1, 5])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(100):
        optimizer.zero_grad()
        loss = model.relation_loss(anchors, slots, entities)
        loss.backward()
        optimizer.step()
    assert loss < 0.7  # of log 6, 1.8, before


def test_a_formula_without_a_shortcut_asks_about_the_first_facts_alone():
    torch.manual_seed(0)
    relations = CELLS // 8  # so that four facts are as many as it takes
    model = create("rescal", ENTITIES, relations, {"dim": 2}).eval()
    anchors, entities = torch.randn(2, 9, 2)
    slots = torch.randint(2 * relations, (9,))
    some = relation_loss(model, anchors[:4], slots[:4], entities[:4])
    torch.testing.assert_close(relation_loss(model, anchors, slots, entities), some)


def test_batch_norms_remember_nothing_of_it_but_go_on_to_learn():
    model = create("conve", ENTITIES, RELATIONS, {"dim": DIM, "channels": 4})
    before = {name: part.clone() for name, part in model.named_buffers() if "running" in name}
    model.relation_loss(torch.tensor([0, 1]), torch.tensor([2, 3]), torch.tensor([4, 5]))
    for name, part in before.items():
        assert torch.equal(part, model.get_buffer(name)), name
    assert model.query_norm.momentum == 0.1


@pytest.mark.parametrize("kind", [DistMult, Translation])
def test_a_subclass_with_a_formula_of_its_own_is_not_read_by_that_of_another(kind):
    class Own(kind):
        geometry = Dot

        def encode(self, anchors, relations):
            return 2 * anchors.flip(1) + self.relations[relations]

    torch.manual_seed(0)
    model = Own(ENTITIES, RELATIONS, kind.Settings(dim=DIM)).eval()
    anchors, entities = model.placed(torch.randn(4, DIM)), model.placed(torch.randn(4, DIM))
    slots = torch.arange(2 * RELATIONS)
    found = slot_scores(model, anchors, entities)
    expected = [
        [(model.encode(a[None], slot[None])[0] * e).sum().item() for slot in slots]
        for a, e in zip(anchors, entities, strict=True)
    ]
    torch.testing.assert_close(found, torch.tensor(expected))
