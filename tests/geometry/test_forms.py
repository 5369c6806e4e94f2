"""The compiled quadratic forms equal the obvious formula, bit for bit whatever the threads."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

forms = pytest.importorskip("assent.geometry.forms", reason="numba is not installed")
threads = pytest.importorskip("assent.geometry.threads")

pytestmark = pytest.mark.skipif(not threads.available(), reason="torch is without OpenMP here")

SIZES = st.tuples(st.integers(0, 9), st.integers(0, 100), st.integers(1, 40))


def case(sizes, seed):
    rows, columns, dim = sizes
    generator = torch.Generator().manual_seed(seed)
    shapes = ((rows, dim), (columns, dim), (dim, dim), (rows, columns))
    queries, entities, metric, slopes = (torch.randn(x, generator=generator) for x in shapes)
    return queries, entities, metric + metric.T, slopes


def gradients(queries, entities, metric, slopes):
    into = torch.ones_like(queries), torch.full_like(entities, 7.0)
    forms.gradients(queries, entities, metric, slopes, *into)
    return into


@given(SIZES, st.integers(0, 5))
def test_forms_equal_the_formula(sizes, seed):
    queries, entities, metric, _ = case(sizes, seed)
    out = torch.full((len(queries), len(entities)), -1.0)
    forms.forms(queries, entities, metric, out)
    apart = (queries[:, None] - entities).abs().double()
    expected = ((apart @ metric.double()) * apart).sum(-1)
    size = max(1.0, float(apart.max()) ** 2 if apart.numel() else 0) * len(metric) ** 2
    assert ((out - expected).abs() <= 1e-6 * size).all()


@given(SIZES, st.integers(0, 5))
def test_gradients_equal_those_of_the_formula(sizes, seed):
    queries, entities, metric, slopes = case(sizes, seed)
    into_queries, into_entities = gradients(queries, entities, metric, slopes)
    gaps = queries[:, None].double() - entities.double()
    pulls = 2 * (gaps.abs() @ metric.double()) * gaps.sign() * slopes[:, :, None]
    for found, expected in ((into_queries - 1, pulls.sum(1)), (into_entities - 7, -pulls.sum(0))):
        size = max(1.0, float(expected.abs().max()) if expected.numel() else 0)
        assert ((found - expected).abs() <= 1e-4 * size).all()


def test_nothing_is_written_beside_a_slice():
    queries, entities, metric, slopes = case((5, 37, 19), 0)
    room = torch.full((39, 19), 7.0)
    forms.gradients(queries, entities, metric, slopes, torch.zeros_like(queries), room[1:-1])
    assert (room[[0, -1]] == 7).all() and (room[1:-1] != 7).all()
    room = torch.full((7, 37), 7.0)
    forms.forms(queries, entities, metric, room[1:-1])
    assert (room[[0, -1]] == 7).all() and (room[1:-1] != 7).all()


def test_the_number_of_threads_changes_no_bit():
    queries, entities, metric, slopes = case((17, 1500, 64), 0)
    before = torch.get_num_threads()
    found = []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            out = torch.empty(len(queries), len(entities))
            forms.forms(queries, entities, metric, out)
            found.append((out, *gradients(queries, entities, metric, slopes)))
    finally:
        torch.set_num_threads(before)
    for other in found[1:]:
        assert all(torch.equal(one, two) for one, two in zip(found[0], other, strict=True))


def test_what_is_no_number_reaches_the_forms():
    queries, entities, metric, _ = case((3, 5, 4), 0)
    queries[1, 2] = float("nan")
    out = torch.empty(3, 5)
    forms.forms(queries, entities, metric, out)
    assert out[1].isnan().all() and out[[0, 2]].isfinite().all()
