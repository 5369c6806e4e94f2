"""What the stated schema entails from known facts is found by joining; loops find the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import completing_oracles as oracles
import toy
from assent.completing import entailing
from assent.completing.entailing import entailed
from assent.completing.law import Law
from assent.core.schema import Schema
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError

NAMES = Vocabulary(tuple("abcdef"), ("p", "q", "r"))
STATEMENTS = [
    ("p", "symmetric"),
    ("q", "transitive"),
    ("p", "transitive"),
    ("p", "inverseOf", "q"),
    ("q", "subPropertyOf", "r"),
    ("r", "subPropertyOf", "p"),
    ("x", "subPropertyOf", "p"),
]
FACTS = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 5)), max_size=8)


def said(facts):
    return {tuple(fact) for fact in facts.tolist()}


def law_of(known, schema):
    return Law(schema, None, known, NAMES, np.zeros(3, bool))


def why(found, place):
    told = "{} {} {}".format
    return found.why(found.facts[place], NAMES.relations.__getitem__, told)


@given(FACTS, st.sets(st.sampled_from(STATEMENTS)))
def test_all_that_follows_is_what_loops_find(facts, statements):
    schema = Schema.of(statements)
    found = entailed(toy.triples(facts), schema, NAMES)
    assert said(found.facts) == oracles.entailed(facts, schema, NAMES)
    assert found.among(toy.triples(facts)).sum() == 0


@given(FACTS, st.sets(st.sampled_from(STATEMENTS), min_size=1))
def test_what_is_known_with_all_that_follows_entails_nothing_more(facts, statements):
    schema = Schema.of(statements)
    first = entailed(toy.triples(facts), schema, NAMES)
    everything = np.concatenate([toy.triples(facts), first.facts])
    assert len(entailed(everything, schema, NAMES)) == 0


def test_the_reason_names_the_statement_and_the_facts():
    schema = Schema.of([("p", "symmetric"), ("q", "transitive")])
    found = entailed(toy.triples([(0, 0, 1), (2, 1, 3), (3, 1, 4)]), schema, NAMES)
    assert said(found.facts) == {(1, 0, 0), (2, 1, 4)}
    assert why(found, 0) == "stated: “p” is symmetric, and “0 0 1” is known"
    assert why(found, 1) == "stated: “q” is transitive, and “2 1 3” and “3 1 4” are known"


def test_what_follows_from_an_entailed_fact_says_so():
    schema = Schema.of([("p", "symmetric"), ("p", "subPropertyOf", "q")])
    found = entailed(toy.triples([(0, 0, 1)]), schema, NAMES)
    assert said(found.facts) == {(1, 0, 0), (0, 1, 1), (1, 1, 0)}
    assert why(found, 2).endswith("“1 0 0” is entailed as well")


def test_nothing_is_entailed_that_the_schema_forbids():
    schema = Schema.of([("q", "subPropertyOf", "p"), ("p", "functional")])
    known = toy.triples([(0, 0, 1), (0, 1, 2), (3, 1, 4), (3, 1, 5)])
    found = entailed(known, schema, NAMES, law_of(known, schema))
    assert len(found) == 0  # of two answers only one may be right, and nothing tells which


def test_without_statements_nothing_is_looked_at():
    assert len(entailed(toy.triples([(0, 0, 1)]), Schema(), NAMES)) == 0


def test_too_much_to_entail_ends_with_a_clear_error(monkeypatch):
    monkeypatch.setattr(entailing, "MOST", 3)
    known = toy.triples([(0, 1, 1), (1, 1, 2), (2, 1, 3), (3, 1, 4), (4, 1, 5)])
    with pytest.raises(DataError, match="--no-entailed"):
        entailed(known, Schema.of([("q", "transitive")]), NAMES)
