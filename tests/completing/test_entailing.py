"""What the stated schema entails from known facts is found by joining; loops find the same."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import completing_oracles as oracles
import toy
from assent.completing import entailing
from assent.completing.by_fact import ByFact
from assent.completing.certain import with_entailed
from assent.completing.completing import Wanted
from assent.completing.entailing import entailed
from assent.completing.ground import Ground
from assent.completing.law import Law
from assent.completing.proposing import Proposer
from assent.completing.refusing import lawful
from assent.core.considered import ENTAILED
from assent.core.decider import Decider
from assent.core.facts import fact_keys
from assent.core.schema import Schema
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.fact_lines import read_facts
from assent.files.facts import write_facts
from completing import worlds

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


def completed(world, schema, precision=0.5):
    """A completion by a rehearsal with what is entailed, its ground, and the same without."""
    benchmark, scores, _ = world
    benchmark = replace(benchmark, schema=schema)
    nothing = Thresholds.single(np.inf, benchmark.vocabulary.num_slots)
    plain = Decider.of_thresholds("scores", "f1", nothing)
    ground = Ground(benchmark, Wanted())
    work = ByFact(Proposer.rehearsing(ground, worlds.Fixed(scores), plain), precision)
    found = work.result(lambda done, total: None, lambda: False)
    return with_entailed(found, work.ground), work.ground, found


def stated_about(world):
    names = world[0].vocabulary.relations
    return Schema.of([(names[0], "symmetric"), (names[-1], "inverseOf", names[0])])


@settings(max_examples=10)
@given(worlds.worlds())
def test_a_completion_has_all_that_is_entailed_beside_its_guesses(world):
    found, ground, guessed = completed(world, stated_about(world))
    facts, names = found.facts, found.vocabulary
    assert said(facts.facts[facts.entailed]) == said(ground.entailed.facts)
    assert not ground.entailed.among(guessed.facts.facts).any()
    assert len(facts) == len(set(fact_keys(facts.facts, names).tolist()))
    assert len(facts) == len(guessed.facts) + len(ground.entailed)
    assert sum(outcome.entailed for outcome in found.outcomes) == len(ground.entailed)
    certain = facts.take(facts.entailed)
    assert certain.accepted.all() and (certain.probabilities == 1).all()
    assert np.isnan(certain.expected).all()
    again, refused = lawful(found.accepted, ground.law)
    assert len(again) == len(found.accepted) and not len(refused.facts)


@settings(max_examples=10)
@given(worlds.worlds())
def test_what_ask_goes_by_has_all_that_is_entailed(world):
    found, ground, _ = completed(world, stated_about(world))
    considered = found.considered
    is_certain = considered.bars == considered.reasons.index(ENTAILED)
    assert said(considered.facts[is_certain]) == said(ground.entailed.facts)


def test_a_held_out_fact_that_train_facts_entail_is_no_test():
    names = Vocabulary(tuple("abcdef"), ("p",))
    kb = toy.triples([(0, 0, 1), (2, 0, 3), (4, 0, 5), (5, 0, 4)])
    benchmark = worlds.benchmark_of(toy.KnowledgeBase.of_ids(names, kb), asked=1)
    scores = np.random.default_rng(0).normal(size=(2, 6, 6)).astype(np.float32)
    world = benchmark, scores, None
    stated, _, _ = completed(world, Schema.of([("p", "symmetric")]))
    silent, _, _ = completed(world, Schema())
    assert [outcome.held_out for outcome in stated.outcomes] == [0]
    assert [outcome.held_out for outcome in silent.outcomes] == [1]
    assert stated.outcomes[0].entailed == 2


def test_entailed_facts_are_read_back_as_such(tmp_path):
    names = Vocabulary(tuple("abcdef"), ("p",))
    kb = toy.triples([(0, 0, 1), (2, 0, 3), (4, 0, 5)])
    benchmark = worlds.benchmark_of(toy.KnowledgeBase.of_ids(names, kb))
    scores = np.zeros((2, 6, 6), np.float32)
    found, _, _ = completed((benchmark, scores, None), Schema.of([("p", "symmetric")]))
    write_facts(tmp_path / "new.jsonl", found.accepted)
    again = read_facts(tmp_path / "new.jsonl")
    assert again.entailed.all() and len(again) == 3
    assert again.reasons(0)[0].sentence.startswith("stated: “p” is symmetric, and “a ")
