"""Every fact that the graph may ask for is decided, once, as slow loops decide it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import completing_oracles as oracles
import toy
from assent.completing.completing import Wanted
from assent.errors import ConfigError, DataError
from completing import worlds


def approximately(found):
    return {fact: pytest.approx(row) for fact, row in found.items()}


@given(worlds.worlds(), st.sampled_from([None, 0.3, 0.5, 0.9]))
def test_new_facts_are_those_of_slow_loops(world, review_above):
    benchmark, scores, thresholds = world
    _, found = worlds.completed(benchmark, scores, thresholds, review_above)
    bound = np.inf if review_above is None else review_above
    expected = oracles.new_facts(benchmark, scores, thresholds, bound)
    assert worlds.as_sets(found) == approximately(expected)


@given(worlds.worlds())
def test_known_facts_are_never_new(world):
    benchmark, scores, _ = world
    everything = np.full(len(scores), -np.inf)
    outcomes, found = worlds.completed(benchmark, scores, everything)
    assert not benchmark.holds(found.facts).any()
    assert sum(outcome.accepted for outcome in outcomes) == len(found)


def test_where_nothing_can_be_accepted_nothing_is_asked():
    benchmark = worlds.benchmark_of(toy.whole())
    slots, entities = 2 * benchmark.vocabulary.num_relations, benchmark.vocabulary.num_entities
    scores = np.zeros((slots, entities, entities), np.float32)
    outcomes, found = worlds.completed(benchmark, scores, np.full(slots, np.inf), None)
    assert not len(found) and all(outcome.queries == 0 for outcome in outcomes)
    assert not any(outcome.accepts for outcome in outcomes)


def test_only_these_relations_and_only_about_these_entities():
    benchmark = worlds.benchmark_of(toy.whole())
    names = benchmark.vocabulary
    scores = np.ones((2 * names.num_relations, names.num_entities, names.num_entities), np.float32)
    wanted = Wanted(["knows"], ["ada"], functional=False, symmetric=False)
    outcomes, found = worlds.completed(benchmark, scores, np.zeros(len(scores)), wanted=wanted)
    facts = toy.named_facts(found.facts, names)
    assert [names.relations[outcome.relation] for outcome in outcomes] == ["knows"]
    assert facts and all(r == "knows" and "ada" in (h, t) for h, r, t in facts)
    assert ("ada", "knows", "ben") not in facts


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        ({"relations": ["know"]}, "did you mean 'knows'"),
        ({"anchors": ["adam"]}, "'adam': no entity of the benchmark has this name or label"),
        ({"max_facts": 0}, "choose 1 or more"),
    ],
)
def test_what_is_not_there_is_refused(wanted, complaint):
    benchmark = worlds.benchmark_of(toy.whole())
    scores = np.zeros((8, 13, 13), np.float32)
    with pytest.raises((ConfigError, DataError), match=complaint):
        worlds.completed(benchmark, scores, np.zeros(8), wanted=Wanted(**wanted))
