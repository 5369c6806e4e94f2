"""What the schema says against a fact is said in words, of each fact that the law refuses."""

from dataclasses import replace

import numpy as np
from hypothesis import given

import toy
from assent.completing.completing import Wanted
from assent.completing.ground import Ground
from assent.completing.law import KEPT, REASONS
from assent.completing.objecting import HABIT, Objections
from assent.core.facts import KnowledgeBase
from assent.core.schema import Schema
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from completing import worlds
from completing.test_law import NAMES, cases, types_of


@given(cases())
def test_the_law_refuses_a_fact_if_and_only_if_it_is_said_why(case):
    schema, closed, known, new = case
    kb = KnowledgeBase.of_ids(NAMES, toy.triples(known), types=types_of(closed))
    ground = Ground(replace(worlds.benchmark_of(kb), schema=schema), Wanted())
    verdicts = ground.law.contradictions(toy.triples([*new, *known])).tolist()
    for fact, verdict in zip([*new, *known], verdicts, strict=True):
        said = [one.reason for one in Objections(ground).of(*fact) if one.reason != HABIT]
        first = min(map(REASONS.index, said), default=KEPT)
        assert first == verdict


ENTITIES = ("Germany", "Berlin", "Bonn", "Ada", "Norway", "Oslo")
CITIES, PERSON = {"Berlin", "Bonn", "Oslo"}, {"Ada"}


def ground_of(statements, facts, **wanted):
    """Countries, their capitals, and Ada."""
    names = Vocabulary(ENTITIES, ("has_capital", "borders"))
    kinds = ["city" if e in CITIES else "person" if e in PERSON else "country" for e in ENTITIES]
    pairs = [(place, ("city", "country", "person").index(kind)) for place, kind in enumerate(kinds)]
    types = Types.of_pairs(
        ("city", "country", "person"), toy.pairs(pairs), toy.pairs([]), len(ENTITIES), 4
    )
    kb = KnowledgeBase.of_ids(names, toy.triples(facts), types=types)
    benchmark = replace(worlds.benchmark_of(kb), schema=Schema.of(statements))
    return Ground(benchmark, Wanted(**wanted))


def sentences(ground, head, relation, tail):
    place = ground.names.relations.index(relation)
    found = Objections(ground).of(ENTITIES.index(head), place, ENTITIES.index(tail))
    return [one.sentence for one in found]


def test_each_reason_is_a_sentence_with_the_names():
    ground = ground_of(
        [
            ("has_capital", "functional"),
            ("has_capital", "domain", "country"),
            ("has_capital", "range", "city"),
            ("person", "disjointWith", "city"),
        ],
        [(0, 0, 1)],
    )
    assert sentences(ground, "Germany", "has_capital", "Bonn") == [
        "Germany has Berlin as capital already, and the schema allows only one"
    ]
    assert sentences(ground, "Oslo", "has_capital", "Bonn") == [
        "the schema says that the head of “has capital” is a country, which Oslo is not"
    ]
    assert sentences(ground, "Norway", "has_capital", "Ada") == [
        "the schema says that the tail of “has capital” is a city, which Ada is not",
        "the schema says that the tail of “has capital” is a city, and that none is a person, "
        "which Ada is",
    ]
    assert sentences(ground, "Norway", "has_capital", "Oslo") == []
    assert sentences(ground, "Germany", "has_capital", "Berlin") == []  # is known


def test_a_habit_of_the_graph_says_which_option_lifts_it():
    """Twenty countries have a capital each; no schema says so."""
    names = Vocabulary(tuple(f"e{e}" for e in range(41)), ("has_capital",))
    kb = KnowledgeBase.of_ids(names, toy.triples([(e, 0, 20 + e) for e in range(20)]))
    ground = Ground(worlds.benchmark_of(kb), Wanted())
    (found,) = Objections(ground).of(0, 0, 40)
    assert found.reason == HABIT
    assert found.sentence == (
        "e0 has e20 as capital already, and there is only one as a rule; "
        "--no-functional would allow another"
    )
    (also,) = Objections(ground).of_query(0, 0)
    assert also == found
    assert not Objections(ground).of_query(40, 0)
    free = Ground(worlds.benchmark_of(kb), Wanted(functional=False))
    assert not Objections(free).of(0, 0, 40)


def test_a_symmetric_habit_is_told_from_the_end_that_has_the_fact():
    names = Vocabulary(tuple(f"e{e}" for e in range(42)), ("married_to",))
    pairs = [(e, 0, 20 + e) for e in range(20)]
    pairs += [(t, 0, h) for h, _, t in pairs[:19]]  # the last one is known one way only
    ground = Ground(worlds.benchmark_of(KnowledgeBase.of_ids(names, toy.triples(pairs))), Wanted())
    assert ground.schema.symmetric[0]
    found = Objections(ground).of_query(39, 0)
    assert found and found[0].sentence.startswith("e19 is married to e39 already")
    assert np.isin(39, [h for h, *_ in pairs]).item() is False
