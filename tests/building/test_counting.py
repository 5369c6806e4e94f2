"""Table 1 counts what is there."""

from hypothesis import given

import toy
from assent.building.counting import table_one
from assent.core.benchmark import Benchmark
from assent.core.queries import Queries, Subset


@given(toy.crowds())
def test_the_table_equals_counting_by_hand(kb):
    benchmark = toy.built(kb)
    valid, test = toy.both_splits(benchmark)
    table = table_one(benchmark)
    assert list(table) == ["C", "I", "N", "F"]
    for kind, letters in {"C": "C", "I": "IN", "N": "N", "F": "F"}.items():
        in_valid, in_test = list(toy.only(letters, valid)), list(toy.only(letters, test))
        both = in_valid + in_test
        assert table[kind] == {
            "head": sum(query[0] == "head" for query in both),
            "tail": sum(query[0] == "tail" for query in both),
            "total": len(both),
            "valid": len(in_valid),
            "test": len(in_test),
        }


def test_nothing_asked_is_nothing_counted():
    nothing = Queries.empty([], [], Subset.FAKE)
    vocabulary = toy.vocabulary_of(2, 1)
    table = table_one(Benchmark(vocabulary, toy.triples([(0, 0, 1)]), nothing, nothing, True))
    assert all(count == 0 for row in table.values() for count in row.values())
