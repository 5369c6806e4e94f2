"""What every model must do, in every variant."""

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from assent.core.queries import Queries, both_ways
from assent.core.texts import Texts
from assent.geometry import Answers, Drawn, kvsall
from assent.models import create, names
from assent.models.base import Told

DIM = 16
VARIANTS = {
    "distmult": ("distmult", {}),
    "distmult without bias": ("distmult", {"entity_bias": False}),
    "complex": ("complex", {}),
    "conve": ("conve", {"channels": 8}),
    "rescal": ("rescal", {}),
    "transe": ("transe", {}),
    "transe, squared L2": ("transe", {"norm": 2}),
    "transe, free, one way": ("transe", {"normalize": False, "reciprocal": False}),
    "transh": ("transh", {}),
    "transh, free, one way": ("transh", {"normalize": False, "reciprocal": False}),
    "transr": ("transr", {}),
    "transr, a smaller space, one way": ("transr", {"space": 12, "reciprocal": False}),
    "transa": ("transa", {"metric": "full"}),
    "transa, diagonal, one way": ("transa", {"metric": "diagonal", "reciprocal": False}),
    "region": ("region", {"pace": 5.0}),
    "region, scaled": ("region", {"anchor": "scaled", "start": 4.0, "pace": 5.0}),
    "region, sphere": ("region", {"shape": "sphere"}),
    "region, free, one way": ("region", {"normalize": False, "reciprocal": False}),
    "complex, three members": ("complex", {"members": 3}),
    "transa, two members": ("transa", {"members": 2, "metric": "diagonal"}),
    "region, two members": ("region", {"members": 2, "pace": 5.0}),
    "text": ("text", {}),
    "text alone": ("text", {"free": False}),
    "text alone, without bias": ("text", {"free": False, "entity_bias": False}),
    "text, without bias": ("text", {"entity_bias": False}),
    "attention": ("attention", {}),
    "attention, few facts, nothing hidden": (
        "attention",
        {"heads": 1, "heard": 2, "hidden": 0.0, "entity_bias": False},
    ),
    "attention, two members": ("attention", {"members": 2, "heads": 2}),
    "text, two members": ("text", {"members": 2, "free_dropout": 0.0}),
}
# Two people (0-5) born in each city (6-8), cities in two countries (9, 10), and people as their
# citizens. No circle and no pair of converse facts: a translation cannot go round in a circle,
# and DistMult cannot tell a fact from its converse.
BORN = [[person, 0, 6 + person // 2] for person in range(6)]
LIES = [[6, 1, 9], [7, 1, 9], [8, 1, 10]]
CITIZEN = [[person, 2, 9 + person // 4] for person in range(6)]
FACTS = np.array(BORN + LIES + CITIZEN, dtype=np.int32)  # head, relation, tail
NAMES = (
    *(f"{first} {last}" for first in ("Anna", "Bert", "Carl") for last in ("Berg", "Feld")),
    *("Old Town", "New Town", "Old Port", "New Land", "Old Land"),
)
TYPES = [["person"]] * 6 + [["place", "city"]] * 3 + [["place"]] * 2
TEXTS = Texts.plain(NAMES, TYPES).encoded(np.eye(11, 3) + np.eye(11, 3, -5))
QUERIES = Queries.grouped(*both_ways(FACTS, 3))
ANCHORS = torch.tensor(QUERIES.anchors, dtype=torch.int64)
RELATIONS = torch.tensor(QUERIES.relations, dtype=torch.int64)
ANSWERS = Answers.of(QUERIES)
TOLD = Told(torch.arange(len(QUERIES)), ANSWERS.ids[ANSWERS.offsets[:-1]])


@pytest.fixture(params=VARIANTS)
def variant(request):
    name, settings = VARIANTS[request.param]
    return name, {"dim": DIM, **settings}


def made(variant, seed=0, **more):
    torch.manual_seed(seed)
    name, settings = variant
    return create(name, 11, 3, {**settings, **more}, TEXTS, FACTS)


def learned(variant, steps, rate=0.03):
    model = made(variant, anchor_dropout=0.0, query_dropout=0.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model.loss(ANCHORS, RELATIONS, ANSWERS)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


def total(terms):
    return terms.loss + terms.n3 + terms.relation


def test_every_model_has_a_variant_here():
    assert {name for name, _ in VARIANTS.values()} == set(names())


def test_scores_are_finite_one_a_query_and_entity(variant):
    scores = made(variant).scores(ANCHORS, RELATIONS)
    assert scores.shape == (len(QUERIES), 11)
    assert scores.isfinite().all()


@pytest.mark.parametrize("loss", ["bce", "ce"])
def test_gradients_reach_every_parameter(variant, loss):
    model = made(variant)
    model.loss(ANCHORS, RELATIONS, ANSWERS, loss=loss).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def test_the_same_seed_gives_the_same_scores_and_another_one_does_not(variant):
    first, again, other = (made(variant, seed).scores(ANCHORS, RELATIONS) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.allclose(first, other)


def test_a_query_is_scored_alone_as_in_a_batch(variant):
    model, _ = learned(variant, steps=3)
    whole = model.scores(ANCHORS, RELATIONS)
    for row in (0, 7, len(QUERIES) - 1):
        alone = model.scores(ANCHORS[row, None], RELATIONS[row, None])
        assert torch.allclose(alone[0], whole[row], atol=1e-5)


def test_slices_are_scored_as_the_whole(variant):
    model = made(variant)
    whole = model.scores(ANCHORS, RELATIONS)
    for size in (1, 3, 11):
        parts = [
            model.scores(ANCHORS, RELATIONS, slice(start, start + size))
            for start in range(0, 11, size)
        ]
        assert torch.allclose(torch.cat(parts, dim=1), whole, atol=1e-5)


def test_scoring_knows_no_dropout_and_leaves_the_mode_alone(variant):
    model = made(variant, anchor_dropout=0.5, query_dropout=0.5)
    first = model.scores(ANCHORS, RELATIONS)
    assert torch.equal(first, model.scores(ANCHORS, RELATIONS))
    assert model.training


@pytest.mark.parametrize(
    "variant", [v for v in VARIANTS if "members" not in VARIANTS[v][1]], indirect=True
)
def test_gradients_are_those_of_queries_and_entities_taken_apart(variant):
    model = made(variant, anchor_dropout=0.0, query_dropout=0.0)
    model.eval()  # batch norms would take turns in moving their means
    together = torch.autograd.grad(
        model.loss(ANCHORS, RELATIONS, ANSWERS), list(model.parameters())
    )
    apart = torch.autograd.grad(
        kvsall(model.geometry, model.ask(ANCHORS, RELATIONS), model.entity_table(), ANSWERS),
        list(model.parameters()),
    )
    for one, other in zip(together, apart, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("loss", ["bce", "ce"])
def test_a_step_that_knows_some_entities_learns_as_one_that_knows_all(variant, loss):
    """Here it knows all of them, in another order."""
    model = made(variant, anchor_dropout=0.0, query_dropout=0.0)
    model.eval()  # batch norms would take turns in moving their means
    whole = model.entity_tables()
    total(model.terms(ANCHORS, RELATIONS, ANSWERS, n3=True, told=TOLD, loss=loss)).backward()
    order = torch.randperm(11)
    place = order.argsort()
    rows = [torch.nn.Parameter(table.detach()[order]) for table in whole]
    others = [x for x in model.parameters() if all(x is not table for table in whole)]
    expected = [x.grad.clone() for x in others]
    for x in others:
        x.grad = None
    with model.only(rows, order):
        answers = Answers(ANSWERS.offsets, place[ANSWERS.ids])
        options = {"loss": loss, "drawn": Drawn((11,), (11,))}
        told = Told(TOLD.queries, place[TOLD.entities])
        total(
            model.terms(place[ANCHORS], RELATIONS, answers, n3=True, told=told, **options)
        ).backward()
    assert all(one is other for one, other in zip(model.entity_tables(), whole, strict=True))
    for table, part in zip(whole, rows, strict=True):
        torch.testing.assert_close(part.grad, table.grad[order], rtol=1e-4, atol=1e-5)
    for x, slope in zip(others, expected, strict=True):
        torch.testing.assert_close(x.grad, slope, rtol=1e-4, atol=1e-5)


def test_trains_on_a_single_query(variant):
    model = made(variant)
    one = Answers(torch.tensor([0, 1]), torch.tensor([4]))
    model.loss(ANCHORS[:1], RELATIONS[:1], one).backward()


def test_learns_a_small_graph_by_heart(variant):
    model, losses = learned(variant, steps=400)
    assert losses[-1] < 0.5 * losses[0]
    scores = model.scores(ANCHORS, RELATIONS)
    answers = torch.zeros_like(scores, dtype=torch.bool)
    for query in range(len(QUERIES)):
        ids = QUERIES.answers[QUERIES.offsets[query] : QUERIES.offsets[query + 1]]
        answers[query, torch.tensor(ids, dtype=torch.int64)] = True
    lowest_answer = scores.masked_fill(~answers, torch.inf).amin(1)
    highest_other = scores.masked_fill(answers, -torch.inf).amax(1)
    assert (lowest_answer > highest_other).all()


def test_saves_and_loads_to_equal_scores(variant):
    model, _ = learned(variant, steps=3)
    saved = save({name: tensor.contiguous() for name, tensor in model.state_dict().items()})
    other = made(variant, seed=9)
    other.load_state_dict(load(saved))
    assert torch.equal(other.scores(ANCHORS, RELATIONS), model.scores(ANCHORS, RELATIONS))


def test_single_facts_score_as_they_do_among_all(variant):
    model = made(variant)
    anchors = ANCHORS.repeat_interleave(11)
    relations = RELATIONS.repeat_interleave(11)
    entities = torch.arange(11).repeat(len(ANCHORS))
    alone = model.pairs(anchors, relations, entities)
    among = model.scores(ANCHORS, RELATIONS)
    torch.testing.assert_close(alone.view(len(ANCHORS), 11), among, rtol=1e-4, atol=1e-4)
    assert model.training, "the mode of the model was changed"


def test_a_digest_tells_models_apart(variant):
    assert made(variant).digest() == made(variant).digest() != made(variant, seed=1).digest()


def test_scores_lie_where_the_model_does_though_asked_for_from_the_cpu(variant):
    """On torch's device without numbers, which minds a mixture as a GPU would."""
    if variant[0] in ("rescal", "transr", "attention") or variant[1].get("metric") == "full":
        pytest.skip("the model counts its relations or facts, which takes numbers")
    model = made(variant).to("meta")
    assert model.scores(ANCHORS, RELATIONS).is_meta
    assert model.pairs(ANCHORS, RELATIONS, ANCHORS).is_meta
