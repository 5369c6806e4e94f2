"""Scores as whole numbers that rise with them, and loops over the scores of whole rows."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import deciding_oracles as oracles
from assent.errors import DataError
from assent.geometry import scans, threads

SMALLEST = np.float32(1e-45)  # above zero

numbers = st.floats(allow_nan=False, width=32).map(np.float32)


@given(st.lists(numbers, min_size=2, max_size=50))
def test_higher_scores_have_higher_numbers_and_each_number_is_that_of_its_score(scores):
    scores = sorted(set(scores))
    rising = [int(scans._rising(score)) for score in scores]
    assert rising == sorted(set(rising))
    assert rising == [oracles.rising(float(score)) for score in scores]
    assert [scans._score_of(place) for place in rising] == scores


@given(numbers)
def test_just_below_a_score_there_is_nothing_else(score):
    if np.isfinite(score):
        below = scans._just_below(scans._rising(score))
        assert below < score
        assert np.nextafter(below, np.float32(np.inf)) == score


def test_both_zeros_are_the_same_number_and_those_next_to_them_keep_their_sides():
    zero = scans._rising(np.float32(0.0))
    assert scans._rising(np.float32(-0.0)) == zero
    assert scans._rising(SMALLEST) == zero + 1
    assert scans._just_below(zero) == -SMALLEST


def test_bins_stay_few_and_are_as_fine_as_that_allows():
    for slots in [*range(1, 2000), 4096, 4097, 100_000]:
        ignored = scans.bits_ignored(slots)
        assert ignored >= scans.FINEST
        assert slots << (32 - ignored) <= scans.CELLS
        assert ignored == scans.FINEST or slots << (33 - ignored) > scans.CELLS


@given(st.lists(st.tuples(st.integers(0, 5000), numbers), max_size=30))
def test_keys_ascend_by_slot_and_then_by_score_and_hold_the_scores(rows):
    slots = np.array([slot for slot, _ in rows], np.int32)
    scores = np.array([score for _, score in rows], np.float32)
    keys, found = np.empty(len(rows), np.int64), np.empty(len(rows), np.float32)
    scans.order_keys(slots, scores, keys)
    order = np.argsort(keys, kind="stable")
    assert [rows[place] for place in order] == sorted(rows)
    scans.scores_in(keys, found)
    assert found.tolist() == scores.tolist()


@pytest.mark.parametrize("width", [1, 63, 64, 65, 200])
def test_what_passes_a_floor_is_found_in_order_whatever_the_width_of_a_row(width):
    scores = np.random.default_rng(width).integers(-3, 4, (5, width)).astype(np.float32)
    floors = np.array([-np.inf, -1.0, 0.0, 3.0, np.inf], np.float32)
    room = np.empty(5 * width, np.int32), np.empty(5 * width, np.int32), np.empty(5 * width, "f4")
    for first, stop in ((0, 5), (1, 4), (2, 2)):
        found = scans.passing(scores, floors, first, stop, *room)
        rows, entities = np.nonzero(scores[first:stop] > floors[first:stop, None])
        assert [column[:found].tolist() for column in room] == [
            (rows + first).tolist(),
            entities.tolist(),
            scores[rows + first, entities].tolist(),
        ]


@pytest.mark.parametrize("width", [0, 1, 65, 200])
def test_a_score_of_minus_infinity_is_no_candidate(width):
    values = np.array([-np.inf, -3.0, 0.0, np.inf], np.float32)
    scores = np.random.default_rng(width).choice(values, (5, width))
    counts = np.full(5, -1)
    scans.count_candidates(scores, 1, 4, counts)
    expected = [sum(score != -np.inf for score in row) for row in scores[1:4]]
    assert counts.tolist() == [-1, *expected, -1]


def test_where_there_is_too_little_room_it_is_filled_and_the_rest_is_counted():
    scores = np.arange(10, dtype=np.float32)[None]
    room = np.zeros(3, np.int32), np.zeros(3, np.int32), np.zeros(3, np.float32)
    assert scans.passing(scores, np.array([1.0], np.float32), 0, 1, *room) == 8
    assert room[1].tolist() == [2, 3, 4]


@given(st.integers(0, 2**20), st.integers(1, 5), st.integers(0, 5))
def test_standings_among_ragged_values_are_counted_one_by_one(seed, rows, most):
    rng = np.random.default_rng(seed)
    others = [rng.integers(-2, 3, rng.integers(0, most + 1)).astype("f4") for _ in range(rows)]
    answers = [rng.integers(-2, 3, rng.integers(0, 4)).astype("f4") for _ in range(rows)]
    offsets = [np.append(0, np.cumsum([len(part) for part in side])) for side in (others, answers)]
    higher, equal = np.zeros((2, int(offsets[1][-1])), np.int64)
    scans.standings_among(
        np.concatenate(others), offsets[0], np.concatenate(answers), offsets[1], higher, equal
    )
    pairs = [(row, score) for row, mine in enumerate(answers) for score in mine]
    assert higher.tolist() == [sum(others[row] > score) for row, score in pairs]
    assert equal.tolist() == [sum(others[row] == score) for row, score in pairs]


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_parts_share_the_rows_in_order_and_leave_none_out(parts, count):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(parts)
        found = threads.side_by_side(lambda part, of: list(range(*threads.share(count, part, of))))
    finally:
        torch.set_num_threads(before)
    assert len(found) == parts
    assert [row for part in found for row in part] == list(range(count))


@pytest.mark.parametrize("parts", [1, 2])
def test_what_goes_wrong_in_a_part_is_raised_where_it_was_asked_for(parts):
    def job(part, parts):
        raise DataError(f"part {part}")

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(parts)
        with pytest.raises(DataError, match="part 0"):
            threads.side_by_side(job)
    finally:
        torch.set_num_threads(before)


@given(st.integers(0, 30), st.integers(1, 4), st.integers(0, 2**20))
def test_what_still_passes_its_floor_is_kept_in_order(count, slots, seed):
    rng = np.random.default_rng(seed)
    rows, entities = rng.integers(0, 9, (2, count)).astype(np.int32)
    values = rng.integers(-2, 3, count).astype(np.float32)
    slot_of, floors = rng.integers(0, slots, 9), rng.integers(-2, 3, slots).astype(np.float32)
    columns = list(zip(rows.tolist(), entities.tolist(), values.tolist(), strict=True))
    expected = [column for column in columns if column[2] > floors[slot_of[column[0]]]]
    left = scans.still_passing(rows, entities, values, slot_of.astype(np.int32), floors)
    kept = zip(rows[:left].tolist(), entities[:left].tolist(), values[:left].tolist(), strict=True)
    assert list(kept) == expected
