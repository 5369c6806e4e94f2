"""Each formula on its own, in plain loops or against its definition."""

import pytest
import torch

from assent.models import create, names
from assent.models.conve import picture
from assent.models.rescal import _Turned
from assent.models.transe import _Normalised

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


def test_distmult():
    check(
        made("distmult"),
        lambda m, a, r, e: (a * m.relations[r] * m.entities[e]).sum() + m.bias[e],
    )


def test_complex():
    def score(m, a, r, e):
        anchor, relation, entity = (
            torch.complex(*x.chunk(2)) for x in (a, m.relations[r], m.entities[e])
        )
        return (anchor * relation * entity.conj()).sum().real + m.bias[e]

    check(made("complex"), score)


def test_rescal():
    check(
        made("rescal"),
        lambda m, a, r, e: a @ m.relations[r] @ m.entities[e] + m.bias[e],
    )


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("normalize", [True, False])
def test_transe_is_one_minus_tanh_of_the_distance(norm, normalize):
    def score(m, a, r, e):
        distance = (a + m.relations[r] - m.placed(m.entities)[e]).abs().pow(norm).sum()
        return torch.logit(1 - distance.double().tanh())

    check(made("transe", norm=norm, normalize=normalize, init_scale=0.3), score)


def test_without_reciprocal_relations_a_fact_scores_the_same_from_either_side():
    for name in ("transe", "region"):
        model = made(name, reciprocal=False)
        tails = model.scores(torch.arange(6), torch.full((6,), 1))
        heads = model.scores(torch.arange(6), torch.full((6,), 1 + 2))
        assert torch.allclose(tails, heads.T, atol=1e-5)
        assert len(model.relations) == 2


@pytest.mark.parametrize("pace", [1.0, 5.0])
@pytest.mark.parametrize("shape", ["ellipse", "sphere"])
def test_region_weighs_each_dimension_of_the_squared_distance(shape, pace):
    def score(m, a, r, e):
        weights = m.log_weights[r].exp() ** pace
        gap = a + m.relations[r] - m.placed(m.entities)[e]
        return torch.logit(1 - (weights * gap**2).sum().double().tanh())

    model = made("region", shape=shape, pace=pace)
    torch.nn.init.normal_(model.log_weights, std=1 / pace)
    assert model.log_weights.shape == (4, 8 if shape == "ellipse" else 1)
    check(model, score)


@pytest.mark.parametrize("shape", ["ellipse", "sphere"])
def test_transe_with_squared_l2_is_region_with_all_weights_one(shape):
    transe, region = made("transe", norm=2), made("region", shape=shape)
    region.load_state_dict(transe.state_dict(), strict=False)
    assert torch.equal(region.log_weights, torch.zeros_like(region.log_weights))
    scores = (model.scores(ANCHORS, RELATIONS) for model in (transe, region))
    assert torch.allclose(*scores, atol=1e-5)


def test_normalised_entities_have_length_one():
    assert torch.allclose(made("transe").entity_table().vectors.norm(dim=1), torch.ones(6))


@pytest.mark.parametrize(
    ("dim", "shape"), [(64, (8, 8)), (128, (16, 8)), (200, (20, 10)), (100, (10, 10)), (7, (7, 1))]
)
def test_a_picture_is_as_square_as_it_can_be(dim, shape):
    assert picture(dim) == shape


def test_the_entity_bias_starts_where_it_is_told():
    assert (made("conve", dim=64, bias_start=-4.0).bias == -4).all()
    assert made("distmult").bias.mean() == -6
    assert made("distmult", entity_bias=False).bias is None


def test_rescal_gives_the_gradients_of_the_plain_formula():
    model = made("rescal").double()
    relations = torch.tensor([3, 0, 3, 1, 0])
    vectors = torch.randn(5, 8, dtype=torch.float64, requires_grad=True)
    found = _Turned.apply(vectors, model.relations, relations)
    plain = torch.bmm(vectors[:, None], model.relations[relations])[:, 0]
    assert torch.allclose(found, plain)
    slopes = torch.randn_like(plain)
    inputs = vectors, model.relations
    pairs = (torch.autograd.grad(turned, inputs, slopes) for turned in (found, plain))
    for mine, theirs in zip(*pairs, strict=True):
        assert torch.allclose(mine, theirs)


def test_normalising_gives_the_gradient_of_torch():
    vectors = torch.randn(7, 5, dtype=torch.float64, requires_grad=True)
    slopes = torch.randn(7, 5, dtype=torch.float64)
    found, plain = _Normalised.apply(vectors), torch.nn.functional.normalize(vectors)
    assert torch.allclose(found, plain)
    pairs = [torch.autograd.grad(normalised, vectors, slopes)[0] for normalised in (found, plain)]
    assert torch.allclose(*pairs)


def test_dropout_drops_its_share_and_keeps_the_mean():
    model = made("distmult")
    ones = torch.ones(300, 333)
    dropped = model.dropped(ones, 0.3)
    assert dropped.unique().tolist() == pytest.approx([0, 1 / 0.7])
    assert (dropped == 0).float().mean().item() == pytest.approx(0.3, abs=0.005)
    assert (dropped[:, :4] == 0).float().mean(0).tolist() == pytest.approx([0.3] * 4, abs=0.08)
    assert model.dropped(ones, 0.0) is ones
    assert model.eval().dropped(ones, 0.3) is ones


def test_n3_adds_up_the_cubed_lengths_of_complex_numbers():
    model = create("complex", 3, 1, {"dim": 4})
    with torch.no_grad():
        model.entities[0] = torch.tensor([3.0, 0.0, 4.0, 1.0])  # 3 + 4i, 1i
        model.relations[1] = torch.tensor([0.0, 2.0, 0.0, 0.0])  # 0, 2
    found = model.n3(torch.tensor([0, 0]), torch.tensor([1, 1]))
    assert found.item() == pytest.approx(5**3 + 1 + 2**3)


@pytest.mark.parametrize("name", names())
def test_n3_has_a_gradient_for_entities_and_relations(name):
    model = create(name, 5, 2, {"dim": 16})
    model.n3(torch.tensor([0, 4]), torch.tensor([1, 3])).backward()
    assert torch.isfinite(model.entities.grad).all() and model.entities.grad[[0, 4]].any()
    assert torch.isfinite(model.relations.grad).all() and model.relations.grad.any()


def test_conve_is_a_convolution_over_the_picture_of_anchor_and_relation():
    model = made("conve", dim=12, channels=5)
    for norm in (model.input_norm, model.feature_norm, model.query_norm):
        torch.nn.init.uniform_(norm.weight)
        torch.nn.init.uniform_(norm.running_mean)
    model.eval()
    with torch.no_grad():
        pairs = torch.cat([model.entities[ANCHORS], model.relations[RELATIONS]], dim=1)
        x = model.input_norm(pairs.view(4, 1, 8, 3))
        x = torch.nn.functional.conv2d(x, model.filters.weight.view(5, 1, 3, 3))
        places = x.permute(0, 2, 3, 1).reshape(-1, 5)
        x = model.feature_norm(places).relu().view(4, -1)
        queries = model.query_norm(model.projection(x)).relu()
        expected = queries @ model.entities.T + model.bias
    assert torch.allclose(model.scores(ANCHORS, RELATIONS), expected, atol=1e-5)
