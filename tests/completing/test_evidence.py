"""Chains are counted, and the best of a fact found, as slow loops do it."""

import numpy as np
from hypothesis import given

import completing_oracles as oracles
import toy
from assent.completing import evidence
from assent.completing.evidence import BEST, PRIOR, Chains, Links, evidence_for
from assent.core.new_facts import Evidence


def chains_of(kb, **options):
    return Chains(Links(kb.facts, kb.vocabulary), **options)


def rows(found: Evidence, fact: int):
    """The chains of a fact: first, second, middle, support, cases."""
    mine = slice(found.offsets[fact], found.offsets[fact + 1])
    columns = (found.middles[mine], found.support[mine], found.cases[mine])
    return [
        (*steps, *rest)
        for steps, *rest in zip(
            found.steps[mine].tolist(), *(column.tolist() for column in columns), strict=True
        )
    ]


@given(toy.graphs(most_entities=4, most_relations=2, most_facts=14))
def test_evidence_is_that_of_slow_loops(kb):
    names = kb.vocabulary
    facts = set(map(tuple, kb.facts.tolist()))
    chains = chains_of(kb)
    sizes = (names.num_relations, names.num_entities)
    for relation in range(names.num_relations):
        asked = [(h, relation, t) for h in range(sizes[1]) for t in range(sizes[1])]
        found = evidence_for(toy.triples(asked), chains)
        for place, fact in enumerate(asked):
            assert rows(found, place) == oracles.evidence(facts, *sizes, fact, BEST, PRIOR)


@given(toy.graphs(most_entities=5, most_relations=2, most_facts=20))
def test_facts_are_the_same_however_many_are_looked_at_together(kb):
    entities = range(kb.vocabulary.num_entities)
    asked, chains = toy.triples((h, 0, t) for h in entities for t in entities), chains_of(kb)
    whole = evidence_for(asked, chains)
    before, evidence.TOGETHER = evidence.TOGETHER, 3
    parts = evidence_for(asked, chains)
    evidence.TOGETHER = before
    for place in range(len(asked)):
        assert rows(whole, place) == rows(parts, place)


def test_a_sample_counts_fewer_pairs_and_never_more_support_than_cases():
    kb = toy.crowd(0, 60, 3, 6)
    whole, sample = chains_of(kb), chains_of(kb, budget=2_000)
    assert 0 < sample.cases.sum() < whole.cases.sum()
    for relation in range(3):
        support, cases, _ = sample.weigh(sample.chains, relation)
        assert (support <= cases).all()


def test_no_facts_no_evidence():
    kb = toy.of_names([("a", "r", "b")])
    assert len(evidence_for(toy.triples([]), chains_of(kb)).middles) == 0
    empty = Chains(Links(toy.triples([]), toy.vocabulary_of(3, 1)))
    found = evidence_for(toy.triples([(0, 0, 1)]), empty)
    assert np.array_equal(found.offsets, [0, 0])
