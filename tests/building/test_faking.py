"""Fakes make no sense, stand once, and are drawn from what is really asked about."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toy
from assent.building import faking
from assent.building.faking import fake
from assent.building.fitting import fitting_types, seen_in
from assent.core.queries import Queries, Subset, both_ways


def faked(kb, count: int, side: str, seed: int = 0, real_facts=None) -> Queries:
    """Fakes beside the queries that the given facts, or all of them, answer."""
    num_entities, num_relations = kb.vocabulary.num_entities, kb.vocabulary.num_relations
    everything = Queries.grouped(*both_ways(kb.facts, num_relations))
    asked = kb.facts if real_facts is None else real_facts
    real = Queries.grouped(*both_ways(asked, num_relations))
    slots = {"tail": range(num_relations), "head": range(num_relations, 2 * num_relations)}
    types = fitting_types(kb.types, seen_in(kb.facts, num_relations), kb.vocabulary)
    rng = np.random.default_rng(seed)
    return fake(real, everything.keys(num_entities), types, count, slots[side], rng)


def possible(kb, side: str, real_facts=None) -> set[tuple[int, int]]:
    """All fakes there are: drawn from real ones, violating, without an answer in the graph."""
    num_relations = kb.vocabulary.num_relations
    types = fitting_types(kb.types, seen_in(kb.facts, num_relations), kb.vocabulary)
    asked = kb.facts if real_facts is None else real_facts
    real = Queries.grouped(*both_ways(asked, num_relations))
    answered = Queries.grouped(*both_ways(kb.facts, num_relations))
    taken = set(zip(answered.anchors.tolist(), answered.relations.tolist(), strict=True))
    inverse = side == "head"
    return {
        (anchor, relation)
        for anchor in set(real.anchors.tolist())
        for relation in set(real.relations.tolist())
        if (relation >= num_relations) == inverse
        and (anchor, relation) not in taken
        and types.violate(np.array([anchor]), np.array([relation]))[0]
    }


sides = st.sampled_from(["head", "tail"])


@given(toy.crowds(), st.integers(0, 60), sides, st.integers(0, 9))
def test_fakes_are_among_the_possible_ones_and_each_stands_once(kb, count, side, seed):
    some_facts = kb.facts[::3]
    fakes = faked(kb, count, side, seed, some_facts)
    found = list(zip(fakes.anchors.tolist(), fakes.relations.tolist(), strict=True))
    assert len(set(found)) == len(found) <= count
    assert set(found) <= possible(kb, side, some_facts)
    assert (fakes.subsets == Subset.FAKE).all()
    assert not fakes.has_answers.any()


@given(toy.crowds(), st.integers(0, 60), sides, st.integers(0, 9))
def test_in_a_small_graph_as_many_as_wanted_are_found_or_all_there_are(kb, count, side, seed):
    assert len(faked(kb, count, side, seed)) == min(count, len(possible(kb, side)))


@given(toy.crowds(), st.integers(0, 60), sides, st.integers(0, 9))
def test_drawing_as_in_a_large_graph_finds_no_others(kb, count, side, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(faking, "SMALL", 0)
        fakes = faked(kb, count, side, seed)
    found = list(zip(fakes.anchors.tolist(), fakes.relations.tolist(), strict=True))
    there = possible(kb, side)
    assert len(set(found)) == len(found) <= count
    assert set(found) <= there
    assert len(found) >= min(count, len(there) // 2), "half of what there is, is easily found"


def test_common_anchors_are_faked_more_often_than_rare_ones():
    # Nine cities ask for their mayor; rome asks for all of its twins as well.
    cities = [f"city{number}" for number in range(9)]
    facts = [(city, "mayor", "ada") for city in cities]
    facts += [("rome", f"twin{number}", "oslo") for number in range(30)]
    facts += [("ben", "likes", "cleo")]
    kb = toy.of_names(facts)
    rome = kb.vocabulary.entities.index("rome")
    often = np.mean([rome in faked(kb, 5, "head", seed).anchors for seed in range(100)])
    rare = kb.vocabulary.entities.index("city3")
    seldom = np.mean([rare in faked(kb, 5, "head", seed).anchors for seed in range(100)])
    assert often > 2 * seldom


def test_the_toy_asks_for_the_birthplaces_of_cities_and_the_twins_of_people():
    kb = toy.typed(toy.whole())
    fakes = faked(kb, 200, "tail")
    asked = {query[1:3] for query in toy.named(fakes, kb.vocabulary)}
    people = set(toy.PEOPLE) - {"hana"}  # who has no types
    assert asked == {(person, "twinned_with") for person in people} | {
        (city, relation) for city in toy.CITIES for relation in ("born_in", "knows", "lives_in")
    }


@pytest.mark.parametrize("small", [0, faking.SMALL])
def test_a_query_that_violates_the_types_but_has_an_answer_is_no_fake(small, monkeypatch):
    # Against the schema oslo knows rome; so it is a fair query whom oslo knows.
    monkeypatch.setattr(faking, "SMALL", small)
    kb = toy.typed(toy.of_names([*toy.facts_in(toy.TRAIN), ("oslo", "knows", "rome")]))
    tails, heads = (
        {query[1:3] for query in toy.named(faked(kb, 200, side), kb.vocabulary)}
        for side in ("tail", "head")
    )
    assert ("oslo", "knows") not in tails
    assert ("rome", "knows") not in heads
    assert {("rome", "knows"), ("kyiv", "knows")} <= tails
    assert {("oslo", "knows"), ("kyiv", "knows")} <= heads


def test_no_fakes_are_wanted_and_none_come():
    assert len(faked(toy.whole(), 0, "tail")) == 0


def test_where_no_query_is_real_none_is_fake():
    kb = toy.whole()
    assert len(faked(kb, 5, "head", real_facts=toy.triples([]))) == 0


def test_where_everything_fits_there_is_no_fake():
    kb = toy.of_names([("ada", "knows", "ada"), ("ada", "likes", "ada")])
    assert len(faked(kb, 5, "tail")) == 0


def test_the_same_seed_draws_the_same_fakes_and_another_seed_others():
    kb = toy.crowd(seed=5, num_entities=30, num_relations=4, facts_each=5)
    one, same, other = (faked(kb, 10, "tail", seed).keys(30).tolist() for seed in (1, 1, 2))
    assert one == same != other
