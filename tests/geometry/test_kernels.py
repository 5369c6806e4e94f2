"""The compiled L1 kernel equals the obvious formula, bit for bit whatever the threads."""

import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

kernels = pytest.importorskip("assent.geometry.kernels", reason="numba is not installed")
threads = pytest.importorskip("assent.geometry.threads")

pytestmark = pytest.mark.skipif(not threads.available(), reason="torch is without OpenMP here")

SIZES = st.tuples(st.integers(0, 19), st.integers(0, 300), st.integers(1, 40))


def case(sizes, seed):
    rows, columns, dim = sizes
    generator = torch.Generator().manual_seed(seed)
    shapes = ((rows, dim), (columns, dim), (rows, columns))
    return tuple(torch.randn(shape, generator=generator) for shape in shapes)


def gradients(queries, entities, slopes):
    into_queries = torch.ones_like(queries)
    into_entities = torch.full_like(entities, 7.0)
    kernels.gradients(queries, entities, slopes, into_queries, into_entities)
    return into_queries, into_entities


@given(SIZES, st.integers(0, 5))
def test_distances_equal_the_formula(sizes, seed):
    queries, entities, _ = case(sizes, seed)
    out = torch.full((len(queries), len(entities)), -1.0)
    kernels.distances(queries, entities, out)
    torch.testing.assert_close(out, (queries[:, None] - entities).abs().sum(-1))


@given(SIZES, st.integers(0, 5))
def test_gradients_equal_the_formula(sizes, seed):
    queries, entities, slopes = case(sizes, seed)
    into_queries, into_entities = gradients(queries, entities, slopes)
    pulls = (queries[:, None] - entities).sign() * slopes[:, :, None]
    torch.testing.assert_close(into_queries, 1 + pulls.sum(1), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(into_entities, -pulls.sum(0), rtol=1e-4, atol=1e-4)


def test_nothing_is_written_beside_a_slice():
    queries, entities, slopes = case((5, 37, 19), 0)
    room = torch.full((39, 19), 7.0)
    kernels.gradients(queries, entities, slopes, torch.zeros_like(queries), room[1:-1])
    assert (room[[0, -1]] == 7).all() and (room[1:-1] != 7).all()
    room = torch.full((7, 37), 7.0)
    kernels.distances(queries, entities, room[1:-1])
    assert (room[[0, -1]] == 7).all() and (room[1:-1] != 7).all()


def test_at_equal_coordinates_the_slope_lies_between_those_of_the_two_sides():
    same = torch.ones(1, 3)
    into_queries, into_entities = gradients(same, same.clone(), torch.tensor([[2.0]]))
    assert (into_queries - 1).abs().max() <= 2
    assert torch.equal(into_queries - 1, -into_entities)


def test_the_number_of_threads_changes_no_bit():
    queries, entities, slopes = case((37, 3000, 64), 0)
    before = torch.get_num_threads()
    found = []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            out = torch.empty(len(queries), len(entities))
            kernels.distances(queries, entities, out)
            found.append((out, *gradients(queries, entities, slopes)))
    finally:
        torch.set_num_threads(before)
    for other in found[1:]:
        assert all(torch.equal(one, two) for one, two in zip(found[0], other, strict=True))


def test_what_is_no_number_reaches_the_distances():
    queries, entities, _ = case((3, 5, 4), 0)
    queries[1, 2] = float("nan")
    out = torch.empty(3, 5)
    kernels.distances(queries, entities, out)
    assert out[1].isnan().all() and out[[0, 2]].isfinite().all()


def test_without_openmp_torch_s_own_passes_take_over():
    script = """
import ctypes, numba, torch
class Absent:
    def __init__(self, *_, **__):
        raise OSError("no such library")
real, ctypes.CDLL = ctypes.CDLL, Absent
from assent.geometry import threads
ctypes.CDLL = real
from assent.geometry import absolute, manhattan, passes
from assent.geometry import Answers
from assent.models import create
assert passes.compiled is None and manhattan.kernels is None and absolute.forms is None
for name in ("complex", "transe", "transa"):
    loss = create(name, 5, 1, {"dim": 4}).loss(
        torch.tensor([0]), torch.tensor([1]), Answers(torch.tensor([0, 1]), torch.tensor([2]))
    )
    assert loss.isfinite()
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
