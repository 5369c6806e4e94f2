"""Dropout and cubed norms: the compiled passes against torch's formulas and autograd."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from assent.geometry.vectorwise import complex_cubes, dropped, moduli


@given(st.integers(0, 6), st.integers(1, 20), st.sampled_from([0.1, 0.3, 0.9]), st.integers(0, 99))
def test_float32_drops_the_same_numbers_as_float64(rows, dim, share, seed):
    exact = torch.randn(rows, dim, dtype=torch.float64, requires_grad=True)
    single = exact.detach().float().requires_grad_()
    pulls = torch.randn(rows, dim)
    for vectors in (exact, single):
        torch.manual_seed(seed)
        (dropped(vectors, share) * pulls).sum().backward()
    torch.testing.assert_close(single.grad, exact.grad.float())
    torch.manual_seed(seed)
    expected = dropped(exact, share)
    torch.manual_seed(seed)
    torch.testing.assert_close(dropped(single, share), expected.float())


@given(st.integers(0, 6), st.integers(1, 9), st.integers(0, 99))
def test_cubes_equal_autograd_in_float64(rows, half, seed):
    rng = torch.Generator().manual_seed(seed)
    exact = torch.randn(rows, 2 * half, generator=rng, dtype=torch.float64).requires_grad_()
    single = exact.detach().float().requires_grad_()
    expected, found = moduli(exact).pow(3).sum(), complex_cubes(single)
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)
    for cubes in (expected, found):
        (0.25 * cubes).backward()
    torch.testing.assert_close(single.grad, exact.grad.float(), rtol=1e-5, atol=1e-6)


def test_zeros_have_no_slope_and_what_is_no_number_stays():
    vectors = torch.zeros(2, 4, requires_grad=True)
    complex_cubes(vectors).backward()
    assert (vectors.grad == 0).all()
    assert complex_cubes(torch.tensor([[1.0, torch.nan]])).isnan()
