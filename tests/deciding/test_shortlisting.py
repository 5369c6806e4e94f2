"""What is forgotten cannot matter, and what is kept does not depend on the blocks."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import deciding_oracles as oracles
from assent.core.queries import Queries, Subset
from assent.core.scores import ScoreBlock, collect
from assent.core.thresholds import Thresholds
from assent.deciding import shortlisting
from assent.deciding.shortlisting import Above, Highest
from assent.errors import ConfigError
from assent.geometry import scans
from score_blocks import ANY, NUM_SLOTS, block, blocks, cut, joined, one_by_one, queries_of

LARGE = np.finfo(np.float32).max


def highest(made, per_answer=1, fewest=1, num_slots=NUM_SLOTS, threads=1, limit=None):
    """The collector after the whole stream, with floors that rise early."""
    before = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shortlisting, "FEWEST", fewest)
        collector = Highest(queries_of(made), num_slots, per_answer)
    collector.limit = collector.limit if limit is None else limit
    try:
        torch.set_num_threads(threads)
        collect(made, collector)
    finally:
        torch.set_num_threads(before)
    return collector


def listed(shortlist):
    """Query, entity and score of every candidate."""
    columns = (shortlist.rows, shortlist.entities, shortlist.scores)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def candidates(made):
    return [
        (row, entity, score)
        for row, query in enumerate(oracles.asked(made))
        for entity, score in query.scores.items()
    ]


def expected(made, per_answer, fewest, num_slots=NUM_SLOTS):
    """The floors, and what is higher."""
    queries = oracles.asked(made)
    floors = oracles.floors(queries, num_slots, per_answer, fewest)
    kept = [
        (row, entity, score)
        for row, entity, score in candidates(made)
        if score > floors[queries[row].relation]
    ]
    return floors, kept


WAYS = st.fixed_dictionaries(
    {"threads": st.sampled_from([1, 2]), "limit": st.sampled_from([None, 0, 3, 8])}
)


@given(blocks(ANY), st.integers(1, 3), st.integers(1, 12), WAYS)
def test_what_is_higher_than_the_last_of_the_highest_is_kept(made, per_answer, fewest, way):
    found = highest(made, per_answer, fewest, **way).result()
    floors, kept = expected(made, per_answer, fewest)
    assert found.floors.tolist() == floors
    assert listed(found) == kept


@given(blocks(), st.integers(1, 3), st.integers(1, 12), WAYS)
def test_the_same_where_many_score_the_same(made, per_answer, fewest, way):
    found = highest(made, per_answer, fewest, **way).result()
    floors, kept = expected(made, per_answer, fewest)
    assert found.floors.tolist() == floors
    assert listed(found) == kept


@given(blocks(ANY), st.integers(1, 3), st.lists(st.integers(1, 4), max_size=4), WAYS)
def test_kept_candidates_and_floors_are_the_same_however_the_stream_is_cut(made, per, sizes, way):
    whole = joined(made)
    found = highest(made, per).result()
    for other in ([whole], one_by_one(made), cut(whole, sizes)):
        again = highest(other, per, **way).result()
        assert listed(again) == listed(found)
        assert again.floors.tolist() == found.floors.tolist()
        assert again.right.tolist() == found.right.tolist()


@given(blocks(ANY))
def test_a_candidate_is_right_if_it_is_an_answer(made):
    queries = oracles.asked(made)
    found = highest(made, per_answer=3).result()
    answers = [entity in queries[row].answers for row, entity, _ in listed(found)]
    assert found.right.tolist() == answers


def test_where_there_are_few_candidates_all_are_kept():
    made = [block([[1.0, -np.inf, 3.0]], [[0]], [2])]
    found = highest(made, shortlisting.PER_ANSWER, shortlisting.FEWEST).result()
    assert listed(found) == [(0, 0, 1.0), (0, 2, 3.0)]
    assert (found.floors == -np.inf).all()


def test_a_relation_without_answers_keeps_only_what_is_high_among_all():
    made = [block([[1.0, 9.0], [8.0, 2.0]], [[0], []], [0, 1])]
    assert listed(highest(made, per_answer=2, fewest=3).result()) == [(0, 1, 9.0), (1, 0, 8.0)]


def test_of_rows_that_score_the_same_all_over_nothing_is_kept_and_the_floor_says_so():
    made = [block(np.full((3, 70), 2.5), [[0], [1], []], [0, 0, 1])]
    found = highest(made).result()
    assert len(found) == 0 and found.floors[0] == 2.5


def test_zeros_of_both_signs_fall_together():
    made = [block([[-0.0, 0.0, 1e-45, 0.0, -1e-45, -1.0]], [[1]])]
    assert [entity for _, entity, _ in listed(highest(made, 2).result())] == [2]
    assert [entity for _, entity, _ in listed(highest(made, 5).result())] == [0, 1, 2, 3]


def test_asking_for_the_result_twice_gives_it_twice():
    collector = highest([block([[3.0, 2.0, 1.0]], [[0]])], per_answer=2)
    one, other = collector.result(), collector.result()
    assert listed(one) == listed(other) == [(0, 0, 3.0)]
    assert one.floors.tolist() == other.floors.tolist()


@pytest.mark.parametrize("row", [np.linspace(1, 1.1, 80), np.ones(80)], ids=["rising", "ties"])
def test_a_stream_that_rises_row_by_row_stays_within_the_limit(row):
    rising = np.exp2(np.arange(400) / 4 - 50)[:, None] * row
    made = one_by_one([block(rising, [[0]] + [[]] * 399)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shortlisting, "FEWEST", 100)
        collector = Highest(queries_of(made), 1, 5)
    for part in made:
        collector.add(part)
        assert collector.kept.size <= collector.limit == 600
    assert len(collector.result()) < 100


def test_what_ties_all_over_does_not_pile_up():
    made = one_by_one([block(np.ones((40, 30)), [[0]] + [[]] * 39)])
    collector = highest(made, fewest=10)
    assert collector.kept.size <= collector.limit == 60


def test_a_block_with_more_to_keep_than_there_is_room_for_is_taken_in_parts():
    scores = np.random.default_rng(0).normal(size=(300, 1000)).astype(np.float32)
    assert scores.size > 2 * shortlisting.FIRST_ROOM
    made = [block(scores, [list(range(40))] * 300)]
    found = highest(made, per_answer=40).result()
    assert len(found) == scores.size
    assert found.scores.tolist() == scores.ravel().tolist()


def test_with_many_slots_bins_are_coarser_and_nothing_that_matters_is_lost():
    rng = np.random.default_rng(0)
    scores, slots = rng.normal(size=(50, 40)), rng.integers(5000, size=50)
    made = one_by_one([block(scores, [[3]] * 50, slots)])
    assert scans.bits_ignored(5001) > scans.bits_ignored(1)
    found = highest(made, per_answer=3, num_slots=5000, limit=50).result()
    floors, kept = expected(made, 3, 1, 5000)
    assert found.floors.tolist() == floors
    assert listed(found) == kept


# Above


def levels_between(scores):
    """Thresholds on, just beside, and between neighbouring float32 scores, and at both ends."""
    scores = np.array(scores, np.float32)
    lower = np.nextafter(scores, np.float32(0.1))
    middle = (scores.astype(np.float64) + lower) / 2
    below = np.nextafter(scores.astype(np.float64), -np.inf)
    return [np.inf, -np.inf, *scores.astype(np.float64), *middle, *below]


def above(made, thresholds):
    collector = Above(queries_of(made), thresholds)
    collect(made, collector)
    return collector.result()


@given(st.data(), blocks(ANY))
def test_above_keeps_what_a_comparison_in_float64_accepts(data, made):
    possible = levels_between([*oracles.scores_in(oracles.asked(made))[:1], 0.0, 1.0, -2.5])
    values = data.draw(st.lists(st.sampled_from(possible), min_size=NUM_SLOTS, max_size=NUM_SLOTS))
    thresholds, queries = Thresholds.of(values), oracles.asked(made)
    accepts = oracles.above(values)
    for stream in (made, [joined(made)]):
        found = above(stream, thresholds)
        assert found.accepted(thresholds).all()
        assert listed(found) == [
            (row, entity, score)
            for row, entity, score in candidates(made)
            if accepts(queries[row].relation, score)
        ]


def test_more_candidates_than_the_first_buffer_holds_are_all_kept():
    scores = np.random.default_rng(0).normal(size=(140, 1000)).astype(np.float32)
    made = [block(scores, [[0]] * 140)]
    found = above(made, Thresholds.single(-np.inf, 1))
    assert len(found) == scores.size > shortlisting.FIRST_ROOM
    assert found.scores.tolist() == scores.ravel().tolist()
    assert found.entities.tolist() == list(range(1000)) * 140


def test_a_threshold_beyond_all_float32_numbers_is_nothing_strange():
    made = [block([[LARGE, 0.0, -LARGE]], [[0]])]
    assert len(above(made, Thresholds.single(1e300, 1))) == 0
    assert len(above(made, Thresholds.single(-1e300, 1))) == 3


def test_more_candidates_than_fit_are_refused_with_how_many_there_would_be(monkeypatch):
    monkeypatch.setattr(shortlisting, "memory", lambda: 4 * 100 * 5)  # room for five of them
    queries = Queries.empty(range(4), [0] * 4, Subset.FAKE)
    collector = Above(queries, Thresholds.of([-np.inf]))
    two = Queries.empty(range(2), [0] * 2, Subset.FAKE)
    first = ScoreBlock(two, np.zeros((2, 4), np.float32))
    with pytest.raises(ConfigError, match=r"8 of the first 2 of 4 queries, about 16 of all.*for 5"):
        collector.add(first)
    collector = Above(queries, Thresholds.of([np.inf]))
    collector.add(first)
    assert listed(collector.result()) == []
