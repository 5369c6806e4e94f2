"""A stated schema is law: no fact that is kept contradicts it, and no other fact is refused."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import law_oracles as oracles
import toy
from assent.completing.by_fact import ByFact
from assent.completing.by_query import ByQuery
from assent.completing.completing import Wanted
from assent.completing.ground import Ground
from assent.completing.law import KEPT, REASONS, Law
from assent.completing.proposing import Proposer
from assent.completing.refusing import lawful
from assent.core.arrays import frozen
from assent.core.decider import Decider
from assent.core.new_facts import Evidence, NewFacts
from assent.core.schema import NOTHING_STATED, PROPERTIES, Schema, Statement
from assent.core.thresholds import Thresholds
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from completing import worlds

TYPES = ("A", "B", "C", "D")
NAMES = Vocabulary(("A", "B", "e0", "e1", "e2", "e3"), ("r0", "r1", "r2"))
RELATIONS = (*NAMES.relations, "wide")  # of the last there is no fact
NO_HABIT = frozen(np.zeros(NAMES.num_relations), np.bool_)
KINDS = {"relation": RELATIONS, "type": TYPES}


@st.composite
def statements(draw):
    named = draw(st.sampled_from(list(PROPERTIES)))
    subject, other = PROPERTIES[named]
    first = draw(st.sampled_from(KINDS[subject]))
    return Statement(first, named, draw(st.sampled_from(KINDS[other])) if other else "")


SCHEMAS = st.frozensets(statements(), max_size=8).map(Schema)
FACTS = st.tuples(st.sampled_from(range(6)), st.sampled_from(range(3)), st.sampled_from(range(6)))


@st.composite
def cases(draw):
    """A schema, stated types (closed), known facts, new ones in the order of their rank."""
    schema = draw(SCHEMAS)
    stated = draw(
        st.lists(st.frozensets(st.sampled_from(TYPES), max_size=2), min_size=6, max_size=6)
    )
    closed = [oracles.closed(types, schema) for types in stated]
    known = draw(st.lists(FACTS, max_size=5, unique=True))
    new = draw(st.lists(FACTS.filter(lambda fact: fact not in known), max_size=6, unique=True))
    return schema, closed, known, new


def types_of(closed):
    rows = [(e, TYPES.index(kind)) for e, kinds in enumerate(closed) for kind in kinds]
    return Types.of_pairs(TYPES, toy.pairs(rows), toy.pairs([]), 6, NAMES.num_slots)


def by_name(fact):
    head, relation, tail = fact
    return NAMES.entities[head], NAMES.relations[relation], NAMES.entities[tail]


@given(cases(), st.randoms(use_true_random=False))
def test_what_is_kept_is_what_slow_loops_keep(case, random):
    schema, closed, known, new = case
    law = Law(schema, types_of(closed), toy.triples(known), NAMES, NO_HABIT)
    # By rank: accepted ones first, then the more probable; handed in in any order.
    accepted = len(new) // 2
    rows = [(fact, place < accepted, 1 - place / 10) for place, fact in enumerate(new)]
    random.shuffle(rows)
    facts, flags, probabilities = zip(*rows, strict=True) if rows else ((), (), ())
    verdicts = law.verdicts(
        toy.triples(facts), np.array(probabilities), np.array(flags, dtype=bool)
    )
    types = dict(zip(NAMES.entities, closed, strict=True))
    named = [by_name(fact) for fact in known]
    expected = oracles.kept([by_name(fact) for fact in new], named, types, schema)
    found = {
        by_name(fact) for fact, verdict in zip(facts, verdicts, strict=True) if verdict == KEPT
    }
    assert found == set(expected)
    order = [by_name(fact) for fact in new]
    for fact, verdict in zip(facts, verdicts, strict=True):
        if verdict != KEPT:
            before = [one for one in expected if order.index(one) < order.index(by_name(fact))]
            why = oracles.reasons(by_name(fact), before, named, types, schema)
            assert REASONS[verdict] in why


@given(cases())
def test_without_a_schema_everything_is_lawful(case):
    _, closed, known, new = case
    law = Law(NOTHING_STATED, types_of(closed), toy.triples(known), NAMES, NO_HABIT)
    verdicts = law.verdicts(toy.triples(new), np.ones(len(new)), np.ones(len(new), dtype=bool))
    assert (verdicts == KEPT).all()


def new_facts(*rows):
    count = len(rows)
    zeros = frozen(np.zeros(count), np.float64)
    return NewFacts(
        NAMES,
        frozen(toy.triples(fact for fact, _ in rows)),
        frozen(np.ones(count), np.bool_),
        frozen([probability for _, probability in rows], np.float64),
        frozen(zeros, np.float32),
        zeros,
        zeros,
        frozen(np.ones(count)),
        Evidence.nothing(count),
    )


def test_reasons_are_counted_and_can_be_listed():
    schema = Schema.of(
        [
            ("r0", "domain", "A"),
            ("r0", "range", "B"),
            ("r1", "functional"),
            ("A", "disjointWith", "B"),
            ("r2", "domain", "A"),
        ]
    )
    closed = [set(), set(), {"A"}, {"B"}, set(), set()]
    law = Law(schema, types_of(closed), toy.triples([(4, 0, 3)]), NAMES, NO_HABIT)
    facts = new_facts(
        ((3, 0, 3), 0.9),  # a B where an A must stand
        ((2, 0, 2), 0.8),  # an A where a B must stand
        ((2, 1, 3), 0.7),
        ((2, 1, 4), 0.6),  # a second answer
        ((5, 0, 4), 0.5),  # e2 is an A by the known fact, and would be a B
        ((4, 2, 5), 0.4),
    )
    kept, refused = lawful(facts, law)
    assert kept.facts.tolist() == [[2, 1, 3], [4, 2, 5]]
    assert refused.words() == ["domain", "range", "functional", "disjoint"]
    assert refused.counts() == {"domain": 1, "range": 1, "functional": 1, "disjoint": 1}


def test_a_functional_property_is_law_where_the_graph_breaks_it():
    schema = Schema.of([("r1", "functional")])
    known = toy.triples([(2, 1, 3), (2, 1, 4)])
    law = Law(schema, None, known, NAMES, NO_HABIT)
    verdicts = law.verdicts(toy.triples([(2, 1, 5), (3, 1, 5)]), np.ones(2), np.ones(2, bool))
    assert verdicts.tolist() == [REASONS.index("functional"), KEPT]


def completed(benchmark, scores, **wanted):
    decider = Decider.of_thresholds("given", "f1", Thresholds.of(np.zeros(scores.shape[0])))
    work = ByQuery(Ground(benchmark, Wanted(**wanted)), worlds.Fixed(scores), decider)
    return work.result(lambda done, total: None, lambda: False)


def world_of(kb, schema):
    """Every candidate scores 1 or a little more, each another score."""
    names = kb.vocabulary
    shape = (names.num_slots, names.num_entities, names.num_entities)
    scores = np.random.default_rng(0).permutation(np.prod(shape)).reshape(shape).astype(np.float32)
    benchmark = replace(worlds.benchmark_of(kb), schema=schema)
    return benchmark, 1 + scores / scores.size


def test_completing_keeps_the_law_and_says_what_it_refused():
    schema = Schema.of(
        [
            ("born_in", "functional"),
            ("born_in", "domain", "person"),
            ("born_in", "range", "city"),
            ("knows", "symmetric"),
            ("lives_in", "inverseFunctional"),
        ]
    )
    kb = toy.typed(toy.whole())
    benchmark, scores = world_of(kb, schema)
    found = completed(benchmark, scores, functional=False, symmetric=False)
    names = kb.vocabulary
    new = toy.named_facts(found.accepted.facts, names)
    known = toy.named_facts(kb.facts, names)
    assert new and not new & known
    born = [(head, tail) for head, relation, tail in new if relation == "born_in"]
    assert not born  # everyone is born somewhere already
    lives = [tail for _, relation, tail in new if relation == "lives_in"]
    taken = {tail for _, relation, tail in known if relation == "lives_in"}
    assert len(lives) == len(set(lives)) and not set(lives) & taken
    knows = {(head, tail) for head, relation, tail in new | known if relation == "knows"}
    fresh = {(head, tail) for head, relation, tail in new if relation == "knows"}
    assert {(tail, head) for head, tail in fresh} <= knows
    counts = found.refused.counts()
    assert counts["functional"] > 0 and counts["range"] > 0
    by_relation = {outcome.relation: outcome for outcome in found.outcomes}
    for relation, outcome in by_relation.items():
        assert outcome.accepted == (found.accepted.facts[:, 1] == relation).sum()
    free = completed(replace(benchmark, schema=NOTHING_STATED), scores, functional=False)
    assert any(relation == "born_in" for _, relation, _ in toy.named_facts(free.facts.facts, names))
    assert free.refused.counts() == {}


def test_the_most_facts_wanted_are_lawful_ones():
    schema = Schema.of([("lives_in", "inverseFunctional"), ("twinned_with", "functional")])
    benchmark, scores = world_of(toy.whole(), schema)
    everything = completed(benchmark, scores, functional=False, symmetric=False)
    some = completed(benchmark, scores, functional=False, symmetric=False, max_facts=5)
    assert len(some.accepted) == 5
    best = np.sort(everything.accepted.probabilities)[::-1][:5]
    assert np.sort(some.accepted.probabilities)[::-1].tolist() == best.tolist()


@given(worlds.worlds(), st.sampled_from([0.1, 0.5]), SCHEMAS)
def test_deciding_fact_by_fact_keeps_the_law(world, precision, schema):
    benchmark, scores, _ = world
    names = benchmark.vocabulary
    rows = (row for row in schema.statements if row.subject != "wide" and row.object != "wide")
    benchmark = replace(benchmark, schema=Schema(frozenset(rows)))
    nothing = Thresholds.single(np.inf, names.num_slots)
    plain = Decider.of_thresholds("scores", "f1", nothing)
    ground = Ground(benchmark, Wanted())
    work = ByFact(Proposer.rehearsing(ground, worlds.Fixed(scores), plain), precision)
    found = work.result(lambda done, total: None, lambda: False)
    again, refused = lawful(found.accepted, work.ground.law)
    assert len(again) == len(found.accepted) and not len(refused.facts)
    assert not benchmark.holds(found.refused.facts.facts).any()
    refused = found.refused.facts
    assert (refused.probabilities > found.considered.thresholds[refused.facts[:, 1]]).all()


def test_an_answer_that_building_removed_is_the_one_answer_nonetheless():
    schema = Schema.of(
        [("r1", "functional"), ("r0", "subPropertyOf", "r1"), ("r2", "inverseOf", "r1")]
    )
    lost = np.array([[2, 0], [3, 5]], np.int32)  # e0 r0 ?, ? r2 e1: both have an answer
    law = Law(schema, None, toy.triples([]), NAMES, NO_HABIT, lost)
    facts = toy.triples([(2, 1, 4), (3, 1, 4), (4, 1, 5), (4, 0, 5)])
    none = np.full(4, KEPT)
    none[:2] = REASONS.index("functional")
    assert law.contradictions(facts).tolist() == none.tolist()
