import torch
from hypothesis import given
from hypothesis import strategies as st

from assent.core.queries import Queries, Subset
from assent.geometry import Answers

ANSWERS = Answers(torch.tensor([0, 2, 2, 5]), torch.tensor([4, 1, 0, 3, 4]))  # the second has none


def cells(starts):
    return [
        sorted(zip(rows.tolist(), columns.tolist(), strict=True))
        for rows, columns in ANSWERS.cut(starts)
    ]


def test_one_slice_holds_every_answer():
    assert cells([0]) == [[(0, 1), (0, 4), (2, 0), (2, 3), (2, 4)]]


def test_an_answer_lies_in_one_slice_counted_from_its_start():
    assert cells([0, 3]) == [[(0, 1), (2, 0)], [(0, 1), (2, 0), (2, 1)]]


def test_a_slice_may_hold_no_answer():
    assert cells([0, 2, 3])[1] == []


def test_queries_give_their_answers():
    queries = Queries.joined(
        [
            Queries.grouped(*torch.tensor([[7, 7], [0, 0], [5, 2]], dtype=torch.int32).numpy()),
            Queries.empty([1], [0], Subset.FAKE),
        ]
    )
    answers = Answers.of(queries)
    assert answers.offsets.tolist() == [0, 2, 2]
    assert answers.ids.tolist() == [2, 5]
    assert answers.counts.tolist() == [2, 0]


@given(sets=st.lists(st.lists(st.integers(0, 9), unique=True), max_size=6), stop=st.integers(0, 10))
def test_answers_below_are_those_before_an_entity(sets, stop):
    offsets = torch.tensor([0, *(len(ids) for ids in sets)]).cumsum(0)
    ids = torch.tensor([i for ids in sets for i in ids], dtype=torch.int64)
    below = Answers(offsets, ids).below(stop)
    found = [
        below.ids[first:last].tolist()
        for first, last in zip(below.offsets[:-1], below.offsets[1:], strict=True)
    ]
    assert found == [[i for i in ids if i < stop] for ids in sets]
    assert below.rows.tolist() == [row for row, ids in enumerate(found) for _ in ids]
