"""Weighed sums of rows, and their gradient, beside plain loops."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.geometry.bags import Bag, bag_sums

bags = st.lists(
    st.lists(st.tuples(st.integers(0, 4), st.floats(-2, 2, width=32)), max_size=5), max_size=6
)


def bag_of(content, dtype):
    offsets = torch.tensor([0, *(len(each) for each in content)]).cumsum(0)
    rows = torch.tensor([row for each in content for row, _ in each], dtype=torch.int64)
    amounts = torch.tensor([amount for each in content for _, amount in each], dtype=dtype)
    return Bag(offsets, rows, amounts)


@settings(max_examples=60)
@given(bags, st.sampled_from([1, 3, 8]), st.sampled_from([torch.float32, torch.float64]))
def test_sums_and_gradients_are_those_of_plain_loops(content, dim, dtype):
    table = torch.randn(5, dim, dtype=dtype, requires_grad=True)
    slopes = torch.randn(len(content), dim, dtype=dtype)
    sums = bag_sums(bag_of(content, dtype), table)
    sums.backward(slopes)
    expected = [[0.0] * dim for _ in content]
    gradient = [[0.0] * dim for _ in range(5)]
    for place, each in enumerate(content):
        for row, amount in each:
            for k in range(dim):
                expected[place][k] += amount * table[row, k].item()
                gradient[row][k] += amount * slopes[place, k].item()
    close = {"rtol": 1e-5, "atol": 1e-5}
    wanted = torch.tensor(expected, dtype=dtype).view(len(content), dim)
    torch.testing.assert_close(sums, wanted, **close)
    torch.testing.assert_close(table.grad, torch.tensor(gradient, dtype=dtype), **close)


@pytest.mark.parametrize("turned", [False, True])
def test_gradients_that_lie_anyhow_in_memory_are_taken(turned):
    bag = bag_of([[(0, 1.0), (1, 0.5)], [(1, 2.0)], []], torch.float32)
    table = torch.ones(3, 4, requires_grad=True)
    slopes = torch.randn(4, 3).T if turned else torch.randn(3, 4)
    bag_sums(bag, table).backward(slopes)
    expected = torch.stack([slopes[0], 0.5 * slopes[0] + 2 * slopes[1], torch.zeros(4)])
    torch.testing.assert_close(table.grad, expected)
