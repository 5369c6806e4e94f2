"""A benchmark masks what is true already: train and, if leak-safe, the other split."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import toy
from assent.core.arrays import frozen
from assent.core.benchmark import Benchmark
from assent.core.queries import Queries, Subset, both_ways
from assent.errors import ConfigError, DataError

VOCABULARY = toy.vocabulary_of(4, 2)


def asked(facts) -> Queries:
    return Queries.grouped(*both_ways(facts, 2))


@st.composite
def benchmarks(draw):
    """Any train facts and splits: a fact may stand in several, a split may ask nothing."""
    parts = [toy.triples(sorted(set(draw(toy.lists_of_facts(VOCABULARY))))) for _ in range(3)]
    splits = [Queries.joined([asked(part), fakes_beside(part)]) for part in parts[1:]]
    return Benchmark(VOCABULARY, frozen(parts[0]), *splits, masks_other_split=draw(st.booleans()))


def fakes_beside(facts) -> Queries:
    """One query without answers that these facts do not answer, if there is one."""
    free = sorted({(a, r) for a in range(4) for r in range(2)} - {(h, r) for h, r, _ in facts})
    return Queries.empty([a for a, _ in free[:1]], [r for _, r in free[:1]], Subset.FAKE)


@given(benchmarks())
def test_known_equals_the_oracle(benchmark):
    valid, test = toy.both_splits(benchmark)
    train = toy.named_facts(benchmark.train, VOCABULARY)
    for split, other in (("valid", test), ("test", valid)):
        known = benchmark.known(split)
        expected = oracles.known(train, other, benchmark.masks_other_split)
        assert toy.named(known, VOCABULARY) == {
            (*query, "C", frozenset(expected[query])) for query in expected
        }
        assert (np.diff(known.keys(VOCABULARY.num_entities)) > 0).all()


@given(benchmarks())
def test_the_truth_is_train_and_the_answers_of_both_splits(benchmark):
    facts = toy.named_facts(benchmark.train, VOCABULARY)
    for part in toy.both_splits(benchmark):
        facts |= oracles.answer_facts(part)
    expected, truth = oracles.grouped(facts), benchmark.truth()
    assert toy.named(truth, VOCABULARY) == {
        (*query, "C", frozenset(expected[query])) for query in expected
    }
    assert (np.diff(truth.keys(VOCABULARY.num_entities)) > 0).all()


def benchmark_of(masks_other_split: bool) -> Benchmark:
    """e0 r0 e1 is known, e0 r0 e2 is asked in valid, e0 r0 e3 in test."""
    train, valid, test = (toy.triples([(0, 0, tail)]) for tail in (1, 2, 3))
    return Benchmark(VOCABULARY, train, asked(valid), asked(test), masks_other_split)


def test_by_query_only_train_is_masked():
    known = toy.named(benchmark_of(masks_other_split=False).known("valid"), VOCABULARY)
    assert ("tail", "e0", "r0", "C", frozenset({"e1"})) in known
    assert len(known) == 2


def test_leak_safe_also_the_other_half_is_masked_but_never_a_halfs_own_answers():
    benchmark = benchmark_of(masks_other_split=True)
    in_valid, in_test = (toy.named(benchmark.known(s), VOCABULARY) for s in ("valid", "test"))
    assert ("tail", "e0", "r0", "C", frozenset({"e1", "e3"})) in in_valid
    assert ("tail", "e0", "r0", "C", frozenset({"e1", "e2"})) in in_test


def test_splits_go_by_their_names():
    benchmark = benchmark_of(masks_other_split=True)
    assert benchmark.queries("valid") is benchmark.valid
    assert benchmark.queries("test") is benchmark.test


@pytest.mark.parametrize("masks_other_split", [True, False])
def test_a_split_that_does_not_exist_is_refused(masks_other_split):
    benchmark = benchmark_of(masks_other_split)
    for method in (benchmark.queries, benchmark.known):
        with pytest.raises(ConfigError, match="unknown split 'train'; choose from valid, test"):
            method("train")


@pytest.mark.parametrize(
    ("train", "valid", "test", "place"),
    [
        ((0, 0, 4), (0, 0, 1), (0, 0, 1), "train"),
        ((4, 0, 0), (0, 0, 1), (0, 0, 1), "train"),
        ((0, 2, 0), (0, 0, 1), (0, 0, 1), "train"),
        ((0, 0, 1), (0, 0, 4), (0, 0, 1), "valid"),
        ((0, 0, 1), (0, 0, 1), (-1, 0, 1), "test"),
        ((0, 0, 1), (0, 0, 1), (0, 3, 1), "test"),
    ],
)
def test_an_id_without_a_name_is_refused(train, valid, test, place):
    with pytest.raises(DataError, match=f"{place}: an id that the vocabulary has no name for"):
        Benchmark(
            VOCABULARY,
            toy.triples([train]),
            asked(toy.triples([valid])),
            asked(toy.triples([test])),
            masks_other_split=True,
        )


def test_a_benchmark_may_ask_nothing_in_a_half():
    nothing = asked(toy.triples([]))
    benchmark = Benchmark(VOCABULARY, toy.triples([(0, 0, 1)]), nothing, nothing, True)
    assert len(benchmark.known("valid")) == 2


@given(benchmarks())
def test_each_fact_asked_for_is_there_once_and_holds_as_train_facts_do(benchmark):
    every = {}
    for split, part in zip(("valid", "test"), toy.both_splits(benchmark), strict=True):
        every[split] = toy.named_facts(benchmark.facts(split), VOCABULARY)
        assert len(benchmark.facts(split)) == len(every[split])
        assert every[split] == oracles.answer_facts(part)
    true = toy.named_facts(benchmark.train, VOCABULARY) | every["valid"] | every["test"]
    places = toy.triples([(h, r, t) for h in range(4) for r in range(2) for t in range(4)])
    assert toy.named_facts(places[benchmark.holds(places)], VOCABULARY) == true
