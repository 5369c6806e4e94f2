"""`benchmarks/new_entities.py` asks what it says it asks."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import assent
import toy
from assent.errors import DataError

SOURCE = Path(__file__).resolve().parents[1] / "benchmarks" / "new_entities.py"


@pytest.fixture(scope="module")
def measuring():
    spec = importlib.util.spec_from_file_location("new_entities", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def benchmark():
    kb = toy.crowd(0, num_entities=60, num_relations=4, facts_each=8)
    return assent.build(kb, removed=12, seed=3)


def facts_about(queries, names):
    return {tuple(fact) for fact in queries.facts(names.num_relations).tolist()}


def test_every_fact_with_one_new_entity_is_asked_for_once_from_either_end(measuring, benchmark):
    known = benchmark.vocabulary.num_entities
    removed = benchmark.removed
    one_new = (removed.facts[:, [0, 2]] >= known).sum(axis=1) == 1
    expected = {tuple(fact) for fact in removed.facts[one_new].tolist()}
    assert expected
    (first, anchors_new), (second, answers_new) = measuring.about_new(benchmark, 0)
    assert (first, second) == ("the anchor is new", "the answers are new")
    for part, at_anchor in ((anchors_new, True), (answers_new, False)):
        asked = part.test.take(part.test.has_answers)
        assert facts_about(asked, part.vocabulary) == expected
        assert ((asked.anchors >= known) == at_anchor).all()
        assert ((asked.answers >= known) != at_anchor).all()


def test_queries_without_an_answer_have_none_among_facts_about_new_entities(measuring, benchmark):
    names = benchmark.removed.vocabulary
    for _, part in measuring.about_new(benchmark, 1):
        asked, empty = (part.test.take(rows) for rows in
                        (part.test.has_answers, ~part.test.has_answers))  # fmt: skip
        assert 0 < len(empty) <= len(asked)
        assert set(empty.anchors) <= set(asked.anchors)
        for head, relation, tail in benchmark.removed.facts.tolist():
            forth = (empty.anchors == head) & (empty.relations == relation)
            back = (empty.anchors == tail) & (empty.relations == relation + names.num_relations)
            assert not (forth | back).any()


def test_what_is_true_and_no_answer_is_no_candidate(measuring, benchmark):
    names, known = benchmark.removed.vocabulary, benchmark.vocabulary.num_entities
    new = benchmark.removed.facts
    both_new = (new[:, [0, 2]] >= known).all(axis=1)
    true = [benchmark.train, benchmark.facts("valid"), benchmark.facts("test"), new[both_new]]
    expected = {tuple(fact) for fact in np.concatenate(true).tolist()}
    for _, part in measuring.about_new(benchmark, 0):
        assert facts_about(part.known("test"), names) == expected
        assert not facts_about(part.test, names) & expected


def test_a_benchmark_that_kept_nothing_of_what_it_removed_is_refused(measuring):
    whole = assent.build(toy.crowd(0, num_entities=60, num_relations=4, facts_each=8), removed=0)
    with pytest.raises(DataError, match="kept no removed entities"):
        list(measuring.about_new(whole, 0))
