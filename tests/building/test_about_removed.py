"""Queries about removed entities ask what they say they ask."""

import numpy as np
import pytest

import assent
import toy
from assent.building.about_removed import about_removed
from assent.core.queries import sets_about_new
from assent.errors import DataError


@pytest.fixture(scope="module")
def benchmark():
    kb = toy.crowd(0, num_entities=60, num_relations=4, facts_each=8)
    return assent.build(kb, removed=12, seed=3)


@pytest.fixture(scope="module")
def asked(benchmark):
    return about_removed(benchmark)


def facts_about(queries, names):
    return {tuple(fact) for fact in queries.facts(names.num_relations).tolist()}


def by_set(asked, benchmark):
    sets = sets_about_new(benchmark.vocabulary.num_entities)
    return {name: asked.test.take(within(asked.test)) for name, within in sets.items()}


def test_every_fact_with_one_removed_entity_is_asked_for_once_from_either_end(asked, benchmark):
    known = benchmark.vocabulary.num_entities
    removed = benchmark.removed
    one_new = (removed.facts[:, [0, 2]] >= known).sum(axis=1) == 1
    expected = {tuple(fact) for fact in removed.facts[one_new].tolist()}
    assert expected
    parts = by_set(asked, benchmark)
    for name, at_anchor in (("new anchor", True), ("new answers", False)):
        part = parts[name]
        assert len(part.answers) == len(expected)
        assert facts_about(part, asked.vocabulary) == expected
        assert ((part.anchors >= known) == at_anchor).all()
        assert ((part.answers >= known) != at_anchor).all()
    assert sum(len(parts[name]) for name in parts if name != "full") == len(parts["full"])


def test_queries_without_an_answer_have_none_among_facts_about_removed_entities(benchmark):
    names = benchmark.removed.vocabulary
    for seed in (0, 1):
        parts = by_set(about_removed(benchmark, seed), benchmark)
        empty = parts["no answer"]
        anchors = set(parts["new anchor"].anchors) | set(parts["new answers"].anchors)
        assert 0 < len(empty) <= len(parts["new anchor"]) + len(parts["new answers"])
        assert set(empty.anchors) <= anchors
        for head, relation, tail in benchmark.removed.facts.tolist():
            forth = (empty.anchors == head) & (empty.relations == relation)
            back = (empty.anchors == tail) & (empty.relations == relation + names.num_relations)
            assert not (forth | back).any()


def test_what_is_true_and_no_answer_is_no_candidate(asked, benchmark):
    names, known = benchmark.removed.vocabulary, benchmark.vocabulary.num_entities
    new = benchmark.removed.facts
    both_new = (new[:, [0, 2]] >= known).all(axis=1)
    true = [benchmark.train, benchmark.facts("valid"), benchmark.facts("test"), new[both_new]]
    expected = {tuple(fact) for fact in np.concatenate(true).tolist()}
    assert facts_about(asked.known("test"), names) == expected
    assert not facts_about(asked.test, names) & expected


def test_a_benchmark_without_removed_entities_is_refused():
    whole = assent.build(toy.crowd(0, num_entities=60, num_relations=4, facts_each=8), removed=0)
    with pytest.raises(DataError, match="keeps no entities that building removed"):
        about_removed(whole)
