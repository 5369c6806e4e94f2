"""A benchmark in the layout of the published FB14k-QAQ loads equal, where it fits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from assent.core.benchmark import Benchmark
from assent.core.queries import Queries
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.benchmarks import is_benchmark, load, save
from files.benchmarks_by_hand import CROWD, NAMES, small_benchmarks, there_and_back
from toy import both_splits, built, crowds, named_facts, triples


def test_a_published_benchmark_loads_equal():
    benchmark = built(CROWD, deal="by-query", removed=2)
    again = there_and_back(benchmark, "published")
    assert both_splits(again) == both_splits(benchmark)
    assert named_facts(again.train, again.vocabulary) == named_facts(
        benchmark.train, benchmark.vocabulary
    )
    assert not again.masks_other_split


@settings(max_examples=25)
@given(kb=crowds(typed=False))
def test_the_published_benchmark_of_any_graph_loads_equal(kb):
    benchmark = built(kb, deal="by-query", removed=2)
    again = there_and_back(benchmark, "published")
    assert both_splits(again) == both_splits(benchmark)
    assert named_facts(again.train, again.vocabulary) == named_facts(
        benchmark.train, benchmark.vocabulary
    )


@settings(max_examples=100)
@given(benchmark=small_benchmarks(NAMES.filter(lambda name: " " not in name)))
def test_a_published_benchmark_loads_equal_whatever_its_names(benchmark):
    again = there_and_back(benchmark, "published")
    assert again.vocabulary == benchmark.vocabulary
    assert np.array_equal(again.train, benchmark.train)
    assert both_splits(again) == both_splits(benchmark)


def test_other_spaces_do_not_part_published_answers():
    names = ("a\xa0b", "c\u2003d", "e\x0bf", "g")
    vocabulary = Vocabulary(names, ("in",))
    facts = triples([(0, 0, 1), (2, 0, 3)])
    valid = Queries.grouped(*(np.array(ids) for ids in ([3, 3], [0, 0], [0, 1])))
    test = Queries.grouped(*(np.array([ids]) for ids in (0, 0, 2)))
    benchmark = Benchmark(vocabulary, facts, valid, test, masks_other_split=False)
    assert both_splits(there_and_back(benchmark, "published")) == both_splits(benchmark)


def test_a_leak_safe_benchmark_does_not_fit_the_published_layout(tmp_path):
    benchmark = built(CROWD, deal="by-fact", removed=2)
    with pytest.raises(DataError, match="cannot say that the other split's answers are masked"):
        save(benchmark, tmp_path / "benchmark", layout="published")
    assert not list(tmp_path.iterdir())


def test_names_with_spaces_do_not_fit_the_published_layout(tmp_path):
    benchmark = built(CROWD, deal="by-query", removed=2)
    vocabulary = benchmark.vocabulary
    spaced = replace(vocabulary, entities=("new york", *vocabulary.entities[1:]))
    spaced = replace(benchmark, vocabulary=spaced, removed=None)
    with pytest.raises(DataError, match="separates answers by spaces, 'new york' has one"):
        save(spaced, tmp_path / "benchmark", layout="published")
    assert not list(tmp_path.iterdir())


def test_the_published_benchmark_is_read(data):
    folder = data / "fb14k-qaq"
    if not is_benchmark(folder):
        pytest.skip(f"no benchmark in {folder}")
    benchmark = load(folder)
    assert benchmark.vocabulary.num_relations == 237
    assert benchmark.valid.has_answers.any()
    assert benchmark.test.is_none.any()
