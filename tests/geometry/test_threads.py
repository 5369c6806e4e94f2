"""Work is shared out whole, and an error in a part comes back to the caller."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from assent.geometry.threads import one_thread, share, side_by_side


@given(st.integers(0, 50), st.integers(1, 8))
def test_shares_cover_all_rows_once(count, parts):
    rows = [row for part in range(parts) for row in range(*share(count, part, parts))]
    assert rows == list(range(count))


def test_every_part_is_done_once_and_results_come_in_order():
    count = torch.get_num_threads()
    assert side_by_side(lambda part, parts: (part, parts)) == [(i, count) for i in range(count)]


def test_an_error_in_a_part_is_raised():
    def job(part, parts):
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        side_by_side(job)


def test_one_thread_is_for_a_while_only():
    before = torch.get_num_threads()
    with one_thread():
        assert torch.get_num_threads() == 1
        assert side_by_side(lambda part, parts: parts) == [1]
    assert torch.get_num_threads() == before
