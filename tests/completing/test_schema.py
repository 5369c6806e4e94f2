"""Relations with one answer keep one; those that hold both ways are completed both ways."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import completing_oracles as oracles
import toy
from assent.completing import schema
from assent.completing.completing import Wanted
from assent.completing.ground import Ground
from assent.completing.schema import Habits, both_or_neither, never_together, only_best
from assent.core.arrays import frozen
from assent.core.facts import KnowledgeBase
from assent.core.new_facts import Evidence, NewFacts
from assent.core.queries import Queries, both_ways
from completing import worlds

NAMES = toy.vocabulary_of(5, 1)


def facts_of(rows):
    """Facts of relation 0 from {(head, tail): (accepted, probability)}."""
    count = len(rows)
    accepted, probabilities = zip(*rows.values(), strict=True) if rows else ((), ())
    zeros = frozen(np.zeros(count), np.float64)
    return NewFacts(
        NAMES,
        frozen(toy.triples((head, 0, tail) for head, tail in rows)),
        frozen(accepted, np.bool_),
        frozen(probabilities, np.float64),
        frozen(zeros, np.float32),
        zeros,
        zeros,
        frozen(np.ones(count)),
        Evidence.nothing(count),
    )


def pairs_of(facts):
    return {(head, tail) for head, _, tail in facts.facts.tolist()}


PAIRS = st.tuples(st.integers(0, 4), st.integers(0, 4))
ROWS = st.dictionaries(PAIRS, st.tuples(st.booleans(), st.sampled_from([0.25, 0.5, 0.75])))


@given(toy.graphs(most_entities=4, most_facts=20), st.sampled_from([1, 3]))
def test_a_schema_is_that_of_slow_loops(kb, fewest):
    names = kb.vocabulary
    known = Queries.grouped(*both_ways(kb.facts, names.num_relations))
    facts = set(map(tuple, kb.facts.tolist()))
    before, schema.FEWEST = schema.FEWEST, fewest
    learned = Habits.learned(known, names)
    schema.FEWEST = before
    alike = [
        oracles.symmetric(facts, relation, fewest, schema.BOTH_WAYS)
        for relation in range(names.num_relations)
    ]
    one = [
        oracles.functional(facts, slot, names.num_relations, fewest, schema.ONE_ANSWER)
        for slot in range(2 * names.num_relations)
    ]
    turned = one[names.num_relations :] + one[: names.num_relations]
    both = [a and b if same else a for a, b, same in zip(one, turned, alike * 2, strict=True)]
    assert learned.symmetric.tolist() == alike
    assert learned.functional.tolist() == both
    assert learned.irreflexive.tolist() == [
        oracles.irreflexive(facts, relation, fewest) for relation in range(names.num_relations)
    ]


@given(ROWS, st.booleans(), st.booleans(), st.sets(PAIRS, max_size=4))
def test_the_surest_of_each_anchor_stays(rows, one_tail, one_head, known):
    taken = []
    for one, ends in ((one_tail, [h for h, _ in known]), (one_head, [t for _, t in known])):
        mask = np.zeros(5, bool)
        mask[ends] = True
        taken.append(mask if one else None)
    rows = {pair: row for pair, row in rows.items() if pair not in known}
    found = only_best(facts_of(rows), tuple(taken))
    assert pairs_of(found) == oracles.only_best(rows, one_tail, one_head, known)


@given(ROWS, st.sets(PAIRS, max_size=4))
def test_a_fact_without_its_reverse_goes(rows, known):
    keys = np.sort(np.array([5 * h + t for h, t in known], np.int64))
    found = pairs_of(both_or_neither(facts_of(rows), keys))
    assert found == {(h, t) for h, t in rows if (t, h) in rows or (t, h) in known}


def married(couples):
    """A symmetric and functional relation between 2 x couples entities, and 4 that are alone."""
    facts = [(2 * c, 0, 2 * c + 1) for c in range(couples)]
    facts += [(t, r, h) for h, r, t in facts]
    names = toy.vocabulary_of(2 * couples + 4, 1)
    return KnowledgeBase.of_ids(names, toy.triples(facts))


def test_the_married_stay_so_and_the_others_marry_both_ways():
    benchmark = worlds.benchmark_of(married(8))
    rng = np.random.default_rng(0)
    scores = rng.permutation(2 * 20 * 20).reshape(2, 20, 20).astype(np.float32)
    outcomes, found = worlds.completed(benchmark, scores, np.zeros(2), wanted=Wanted())
    pairs = pairs_of(found)
    assert len(pairs) == 4 and pairs == {(t, h) for h, t in pairs}
    assert {h for h, _ in pairs} == {16, 17, 18, 19}
    assert outcomes[0].second > 0


@given(worlds.worlds())
def test_mirrored_facts_are_those_of_slow_loops(world):
    benchmark, scores, thresholds = world
    names = benchmark.vocabulary
    before, schema.FEWEST = schema.FEWEST, 1
    _, found = worlds.completed(
        benchmark, scores, thresholds, wanted=Wanted(functional=False, symmetric=True)
    )
    schema.FEWEST = before
    known = oracles.facts_known(benchmark)
    alike = {r for r in range(names.num_relations) if oracles.symmetric(known, r, 1, 0.8)}
    expected = oracles.new_facts(benchmark, scores, thresholds, 0.5, alike, fewest=1)
    assert {fact: row[:3] for fact, row in worlds.as_sets(found).items()}.keys() == expected.keys()
    for fact, row in worlds.as_sets(found).items():
        np.testing.assert_allclose(row, expected[fact])


ENDS = st.integers(0, 4)


@given(
    st.sets(st.tuples(ENDS, st.integers(0, 2), ENDS), max_size=25),
    st.integers(1, 4),
)
def test_slots_that_never_meet_are_those_of_slow_loops(facts, enough):
    names = toy.vocabulary_of(5, 3)
    found = never_together(frozen(toy.triples(sorted(facts))), names, enough)
    assert found.shape == (6, 3)
    for slot in range(6):
        for relation in range(3):
            expected = oracles.never_together(facts, 3, slot, relation, enough)
            assert found[slot, relation] == expected


def test_a_wife_is_no_mother_where_no_known_pair_is_both():
    """40 couples, and 40 other pairs of child and mother."""
    people = [f"p{n}" for n in range(160)]
    married = [(people[2 * n], "married", people[2 * n + 1]) for n in range(40)]
    mothers = [(people[80 + 2 * n], "mother", people[81 + 2 * n]) for n in range(40)]
    benchmark = worlds.benchmark_of(toy.of_names(married + mothers), 0)
    ground, names = Ground(benchmark, Wanted()), benchmark.vocabulary
    mother, wed = names.relations.index("mother"), names.relations.index("married")
    place = {name: number for number, name in enumerate(names.entities)}

    def excluded(relation, head, tail):
        return bool(ground.excluded(relation, frozen([place[head]]), frozen([place[tail]]))[0])

    couple = next(f for f in ground.facts.tolist() if f[1] == wed)
    his, hers = names.entities[couple[0]], names.entities[couple[2]]
    assert excluded(mother, his, hers) and excluded(mother, hers, his)
    child, parent = next(
        (names.entities[h], names.entities[t]) for h, r, t in ground.facts.tolist() if r == mother
    )
    assert excluded(wed, child, parent) and excluded(mother, parent, child)
    assert not excluded(mother, his, parent)
