"""Adam by rows is Adam on the whole table."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.geometry.rows import WINDOW, AdamRows, catch_up, move

ROWS = 9


def rates(steps):
    return [0.01 + 0.04 * ((7 * step) % 5) / 5 for step in range(steps)]


def adam_step(table, adam, ids, slopes, rate):
    """A step as training takes it."""
    adam = adam.after_step(rate)
    move(table, adam, ids, slopes, rate)
    return adam


def trained(touched, shape, dtype, seed=0):
    """The table by rows and as torch has it, after steps with gradients for these rows each."""
    rng = torch.Generator().manual_seed(seed)
    start = torch.randn(ROWS, *shape, generator=rng, dtype=dtype)
    table, adam = start.clone(), AdamRows.of(start)
    whole = torch.nn.Parameter(start.clone())
    optimizer = torch.optim.Adam([whole])
    for ids, rate in zip(touched, rates(len(touched)), strict=True):
        ids = torch.tensor(ids, dtype=torch.int64)
        slopes = torch.randn(len(ids), *shape, generator=rng, dtype=dtype)
        rows = catch_up(table, adam, ids)
        tolerance = {"rtol": 1e-4, "atol": 1e-5} if dtype == torch.float32 else {}
        torch.testing.assert_close(rows, whole.detach()[ids], **tolerance)
        adam = adam_step(table, adam, ids, slopes, rate)
        whole.grad = torch.zeros_like(whole).index_copy_(0, ids, slopes)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
    return table, adam, whole.detach()


some_rows = st.lists(st.integers(0, ROWS - 1), unique=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
@settings(max_examples=20, deadline=None, derandomize=True)
@given(touched=st.lists(some_rows, max_size=30), seed=st.integers(0, 100))
def test_rows_are_those_of_adam_on_the_whole_table(dtype, shape, touched, seed):
    table, adam, whole = trained(touched, shape, dtype, seed)
    catch_up(table, adam, torch.arange(ROWS))
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if dtype == torch.float32 else {}
    torch.testing.assert_close(table, whole, **tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_row_that_rested_for_long_is_where_adam_left_it(dtype):
    touched = [[0, 1, 2], *([[1]] * (WINDOW + 50)), [0, 1]]
    table, adam, whole = trained(touched, (4,), dtype)
    catch_up(table, adam, torch.arange(ROWS))
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if dtype == torch.float32 else {}
    torch.testing.assert_close(table, whole, **tolerance)


def test_to_catch_up_twice_changes_nothing():
    table, adam, _ = trained([[0, 1], [1], [2]], (4,), torch.float32)
    once = catch_up(table, adam, torch.arange(ROWS))
    assert torch.equal(once, catch_up(table, adam, torch.arange(ROWS)))
    assert torch.equal(once, table)


def test_a_number_that_is_none_stays_none():
    for dtype in (torch.float32, torch.float64):
        table = torch.zeros(2, 3, dtype=dtype)
        slopes = torch.full((1, 3), torch.nan, dtype=dtype)
        adam = adam_step(table, AdamRows.of(table), torch.tensor([1]), slopes, 0.1)
        adam = adam.after_step(0.1)
        assert catch_up(table, adam, torch.tensor([1])).isnan().all()
