"""Types are learned from who stands where, or derived from it alone."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import oracles
import toy
from assent.building.fitting import (
    NEARLY_ALL,
    SHARED,
    derived,
    fitting_types,
    learned,
    seen_in,
    stated_types,
)
from assent.core.facts import KnowledgeBase
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary


def entity_sets(types: Types) -> dict[int, set[int]]:
    return sets_of(types.entity_offsets, types.entity_types)


def slot_sets(types: Types) -> dict[int, set[int]]:
    return sets_of(types.slot_offsets, types.slot_types)


def sets_of(offsets, values) -> dict[int, set[int]]:
    bounds = itertools.pairwise(offsets)
    return {row: set(values[start:end].tolist()) for row, (start, end) in enumerate(bounds)}


def seen_of(kb: KnowledgeBase):
    return seen_in(kb.facts, kb.vocabulary.num_relations)


def taken_by(types: Types, vocabulary: Vocabulary) -> dict[str, set[str]]:
    """The types that each slot takes, by name."""
    return {
        vocabulary.relation(slot): {types.names[kind] for kind in kinds}
        for slot, kinds in slot_sets(types).items()
    }


@given(toy.graphs())
def test_heads_stand_in_a_relation_and_tails_in_its_inverse(kb):
    seen = {tuple(pair) for pair in seen_of(kb).tolist()}
    standing = oracles.stand_in(kb.facts.tolist(), kb.vocabulary.num_relations)
    assert seen == {(entity, slot) for slot in standing for entity in standing[slot]}


def test_gaps_of_the_toys_schema_are_learned_and_what_all_are_tells_nothing():
    kb = toy.typed(toy.whole())
    types = learned(kb.types, seen_of(kb), kb.vocabulary)
    assert taken_by(types, kb.vocabulary) == {
        "born_in": {"person"},
        "inverse of born_in": {"city"},
        "knows": {"person"},
        "inverse of knows": {"person"},
        "lives_in": {"person"},  # learned, as all below
        "inverse of lives_in": {"city"},
        "twinned_with": {"city"},
        "inverse of twinned_with": {"city"},
    }
    assert entity_sets(types) == entity_sets(kb.types)


@given(toy.graphs(), st.data())
def test_learned_types_equal_the_oracle(kb, data):
    given_types = data.draw(toy.types(kb.vocabulary))
    types = learned(given_types, seen_of(kb), kb.vocabulary)
    standing = oracles.stand_in(kb.facts.tolist(), kb.vocabulary.num_relations)
    expected = oracles.learned(
        entity_sets(given_types), slot_sets(given_types), standing, NEARLY_ALL
    )
    assert slot_sets(types) == expected
    assert entity_sets(types) == entity_sets(given_types)
    assert types.names == given_types.names


def test_nineteen_of_twenty_are_nearly_all_and_eighteen_are_not():
    # e0 to e19 stand as heads of r0; one is no a, two are no b; e20 to e39 are neither.
    kb = KnowledgeBase.of_ids(
        toy.vocabulary_of(40, 1), toy.triples((head, 0, 39) for head in range(20))
    )
    is_a = [(entity, 0) for entity in range(1, 20)]
    is_b = [(entity, 1) for entity in range(2, 20)]
    is_c = [(entity, 2) for entity in range(40) if entity in (0, 1) or entity >= 20]
    given_types = toy.with_types(kb, ("a", "b", "c"), is_a + is_b + is_c, []).types
    types = learned(given_types, seen_of(kb), kb.vocabulary)
    assert taken_by(types, kb.vocabulary) == {"r0": {"a"}, "inverse of r0": {"c"}}


@given(st.one_of(toy.graphs(), toy.crowds(typed=False)))
def test_derived_types_equal_the_oracle(kb):
    types = derived(seen_of(kb), kb.vocabulary)
    standing = oracles.stand_in(kb.facts.tolist(), kb.vocabulary.num_relations)
    assert slot_sets(types) == oracles.derived(standing, SHARED)
    assert entity_sets(types) == {
        entity: {slot for slot in standing if entity in standing[slot]}
        for entity in range(kb.vocabulary.num_entities)
    }


@given(st.one_of(toy.graphs(), toy.crowds()))
def test_nothing_that_is_a_fact_violates_derived_types(kb):
    types = derived(seen_of(kb), kb.vocabulary)
    assert not types.violate(*seen_of(kb).T).any()


def test_five_shared_entities_make_two_slots_alike_and_four_do_not():
    def alike(count: int) -> bool:
        heads = [(e, 0, 9) for e in range(count)] + [(e, 1, 9) for e in range(count)]
        kb = KnowledgeBase.of_ids(toy.vocabulary_of(10, 2), toy.triples(heads))
        return 1 in slot_sets(derived(seen_of(kb), kb.vocabulary))[0]

    assert alike(5)
    assert not alike(4)


def test_the_toys_people_violate_what_only_cities_take():
    kb = toy.whole()
    types = derived(seen_of(kb), kb.vocabulary)
    ada, oslo = (kb.vocabulary.entities.index(name) for name in ("ada", "oslo"))
    twinned = kb.vocabulary.relations.index("twinned_with")
    asked = np.array([ada, oslo]), np.array([twinned, twinned])
    assert types.violate(*asked).tolist() == [True, False]


FREEBASE = Vocabulary(
    ("ada", "ben", "oslo"),
    (
        "/location/location/contains",
        "/people/person/profession",
        "/people/person/spouse_s./people/marriage/spouse",
    ),
)


def test_freebase_names_state_the_domains():
    facts = toy.triples([(2, 0, 2), (0, 1, 2), (1, 2, 0)])
    types = stated_types(seen_in(facts, 3), FREEBASE)
    assert types.names == ("/location/location", "/people/person")
    assert slot_sets(types) == {0: {0}, 1: {1}, 2: {1}, 3: set(), 4: set(), 5: set()}
    assert entity_sets(types) == {0: {1}, 1: {1}, 2: {0}}


def test_a_stated_domain_makes_two_relations_alike_that_share_nobody():
    facts = toy.triples([(2, 0, 2), (0, 1, 2), (1, 2, 0)])
    types = derived(seen_in(facts, 3), FREEBASE)
    ada_is_asked_for_her_spouse = (np.array([0]), np.array([2]))
    oslo_is_asked_for_its_spouse = (np.array([2]), np.array([2]))
    assert types.fit(*ada_is_asked_for_her_spouse).tolist() == [True]
    assert types.violate(*oslo_is_asked_for_its_spouse).tolist() == [True]


def test_one_name_that_is_no_freebase_path_and_nothing_is_stated():
    mixed = Vocabulary(FREEBASE.entities, (*FREEBASE.relations, "knows"))
    facts = toy.triples([(0, 3, 1)])
    assert stated_types(seen_in(facts, 4), mixed) is None
    assert stated_types(seen_in(facts, 0), Vocabulary(FREEBASE.entities, ())) is None


def test_given_types_are_learned_from_and_missing_ones_derived():
    kb = toy.typed(toy.whole())
    assert fitting_types(kb.types, seen_of(kb), kb.vocabulary).names == kb.types.names
    names = fitting_types(None, seen_of(kb), kb.vocabulary).names
    assert names[0] == "head of born_in"
    assert names[-1] == "tail of twinned_with"


def test_no_facts_derive_types_that_nobody_has():
    kb = KnowledgeBase.of_ids(toy.vocabulary_of(2, 1), toy.triples([]))
    types = derived(seen_of(kb), kb.vocabulary)
    assert entity_sets(types) == {0: set(), 1: set()}
    assert not types.violate(np.array([0, 1]), np.array([0, 1])).any()
