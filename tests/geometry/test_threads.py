"""How many threads there are, how work is shared among them, and what an error in a part does."""

import math
import os

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from assent.core.processors import processors
from assent.geometry.threads import (
    Crowd,
    one_thread,
    share,
    side_by_side,
    with_threads,
)

HERE = len(os.sched_getaffinity(0))


def limited(folder, text):
    (folder / "cpu.max").write_text(text, encoding="utf-8")
    return processors(folder)


def test_a_container_s_limit_bounds_the_threads(tmp_path):
    assert limited(tmp_path, "max 100000\n") == HERE
    assert limited(tmp_path, "50000 100000\n") == 1
    assert limited(tmp_path, "150000 100000\n") == min(2, HERE)
    assert limited(tmp_path, "99900000 100000\n") == HERE


def test_older_control_groups_bound_them_too(tmp_path):
    (tmp_path / "cpu").mkdir()
    for quota, expected in ((-1, HERE), (80_000, 1), (100_000 * HERE * 2, HERE)):
        (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(f"{quota}\n", encoding="utf-8")
        (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n", encoding="utf-8")
        assert processors(tmp_path) == expected


@pytest.mark.parametrize("text", ["", "nonsense", "0 0", "max"])
def test_a_limit_that_cannot_be_read_is_none(tmp_path, text):
    assert limited(tmp_path, text) == HERE


def test_without_control_groups_all_processors_count(tmp_path):
    assert processors(tmp_path / "absent") == HERE


def after_steps(crowd, steps, had):
    """After as many steps of a second, in which `had` processors were had."""
    for _ in range(steps):
        threads = crowd.after_step(1.0, had)
    return threads


def test_threads_that_have_their_processors_stay():
    assert after_steps(Crowd(4), 1000, 3.1) == 4


@pytest.mark.parametrize(("most", "had", "expected"), [(2, 0.9, 1), (4, 2.2, 2), (8, 0.2, 1)])
def test_as_many_threads_as_had_a_processor(most, had, expected):
    crowd = Crowd(most)
    assert after_steps(crowd, Crowd.LOOK - 1, had) == most
    assert after_steps(crowd, 1, had) == expected


def test_when_others_are_gone_all_threads_come_back():
    crowd = Crowd(2)
    assert after_steps(crowd, Crowd.LOOK, 0.5) == 1
    assert after_steps(crowd, Crowd.PATIENCE - 1, 1.0) == 1
    assert after_steps(crowd, 1, 1.0) == 2
    assert after_steps(crowd, 10 * Crowd.LOOK, 1.9) == 2


def test_one_thread_is_the_least():
    assert after_steps(Crowd(1), 1000, 0.01) == 1


def test_threads_are_given_back():
    before = torch.get_num_threads()
    with with_threads(2), one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
    with pytest.raises(RuntimeError), with_threads(before + 1):
        raise RuntimeError
    assert torch.get_num_threads() == before and math.isfinite(before)


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
