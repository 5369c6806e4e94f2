"""The link of the distances, and the compiled passes against torch's in float64."""

import pytest
import torch

import geometry_oracles as oracles
from assent.geometry import Asked, Dot, Manhattan, Squared, Table, passes
from assent.geometry.links import NEAR, Logistic, Tanh

DISTANCES = torch.cat([torch.tensor([0.0, 1e-9, 1e-7]), torch.logspace(-6.5, 2.5, 500)])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_probability_of_a_distance_is_one_minus_tanh(dtype):
    distances = DISTANCES.to(dtype)
    found = Tanh.logits_(distances.clone()).sigmoid()
    assert torch.allclose(found, 1 - distances.tanh(), rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scores_and_slopes_are_finite_however_near_or_far(dtype):
    distances = torch.tensor([0.0, 1e-30, NEAR, 1.0, 50.0, 1e3, 1e6], dtype=dtype)
    logits = Tanh.logits_(distances.clone())
    assert logits.isfinite().all()
    assert (logits.diff() <= 0).all()
    assert Tanh.steepness(distances).isfinite().all()


def test_steepness_is_the_derivative_of_the_logit():
    distances = DISTANCES.double().requires_grad_()
    oracles.link(distances[DISTANCES < 300]).sum().backward()
    near = DISTANCES < 300
    assert torch.allclose(Tanh.steepness(distances.detach())[near], distances.grad[near])


@pytest.mark.skipif(passes.compiled is None, reason="no numba, or torch without OpenMP")
@pytest.mark.parametrize("label", [0.0, 0.01])
@pytest.mark.parametrize("columns", [1, 15, 16, 17, 503])
@pytest.mark.parametrize("link", [Logistic, Tanh])
def test_the_compiled_pass_equals_torch_in_float64(link, columns, label):
    rng = torch.Generator().manual_seed(columns)
    raw = torch.randn(9, columns, generator=rng) * 20
    bias = torch.randn(columns, generator=rng) if link is Logistic else None
    if link is Tanh:
        raw = DISTANCES.repeat(9)[: 9 * columns].reshape(9, columns)
    exact = raw.double()
    expected = link.refuse_(exact, None if bias is None else bias.double(), label, 0.5)
    single = raw.clone()
    assert passes.can_run(single)
    sums = torch.empty(columns) if link is Logistic else None
    found = link.refuse_(single, bias, label, 0.5, sums)
    if sums is not None:
        assert torch.allclose(sums.double(), exact.sum(0), rtol=3e-6, atol=1e-5)
    assert found.item() == pytest.approx(expected.item(), rel=1e-6)
    assert torch.allclose(single.double(), exact, rtol=3e-6, atol=1e-7)


@pytest.mark.skipif(passes.compiled is None, reason="no numba, or torch without OpenMP")
@pytest.mark.parametrize("refuse", [Logistic.refuse_, Tanh.refuse_])
def test_any_number_of_threads_gives_the_same_bits(refuse):
    raw = torch.rand(173, 211, generator=torch.Generator().manual_seed(0)) * 9
    before, results = torch.get_num_threads(), []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            matrix = raw.clone()
            results.append((refuse(matrix, None, 0.0, 1.0), matrix))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(loss, results[0][0]) for loss, _ in results)
    assert all(torch.equal(matrix, results[0][1]) for _, matrix in results)


def test_scores_are_logits_in_a_new_or_a_given_buffer():
    rng = torch.Generator().manual_seed(0)
    vectors, entities = torch.randn(3, 4, generator=rng), torch.randn(5, 4, generator=rng)
    weights, bias = torch.rand(3, 4, generator=rng), torch.randn(5, generator=rng)
    for geometry, oracle, inputs in (
        (Dot, oracles.dot, (vectors, None, entities, bias)),
        (Squared, oracles.squared, (vectors, weights, entities, None)),
        (Manhattan, oracles.manhattan, (vectors, None, entities, None)),
    ):
        meeting = geometry(Asked(*inputs[:2]), Table(*inputs[2:]))
        given = torch.empty(3, 5)
        assert meeting.scores(given) is given
        assert torch.allclose(given, oracle(*inputs), rtol=1e-4, atol=1e-5)
        assert torch.equal(meeting.scores(), given)


@pytest.mark.skipif(passes.compiled is None, reason="no numba, or torch without OpenMP")
@pytest.mark.parametrize(
    ("link", "raw"),
    [(Logistic, -torch.linspace(0, 120, 500)), (Tanh, torch.linspace(0.1, 60, 500))],
)
def test_a_slope_too_faint_to_matter_is_none_so_that_products_stay_fast(link, raw):
    slopes = raw[None].clone()
    link.refuse_(slopes, None, 0.0, 1 / 256)
    faint = slopes.abs() < 1e-20
    assert faint.any() and not faint.all()
    assert (slopes[faint] == 0).all()
    broken = torch.full((1, 3), torch.nan)
    assert link.refuse_(broken, None, 0.0).isnan() and broken.isnan().all()
