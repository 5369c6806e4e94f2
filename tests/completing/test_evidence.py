"""Rules that speak for facts are counted as slow loops do it; the best are told in sentences."""

import numpy as np
import pytest
from hypothesis import given

import completing_oracles as oracles
import rules_oracles
import toy
from assent.completing.evidence import LEAST, Explainer
from assent.completing.schema import Links, never_together
from assent.core.arrays import frozen
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.rules import rivalling
from assent.rules.beyond import COUNTED
from assent.rules.explaining import KEPT, Counting
from assent.rules.graph import Graph
from assent.rules.mining import PRIOR
from assent.rules.rivalling import Rivalling
from assent.rules.steps import NONE

GRAPHS = toy.graphs(most_entities=6, most_relations=2, most_facts=24)


def counting_of(kb):
    names = kb.vocabulary
    return Counting(Graph.of(kb.facts, names.num_entities, names.num_relations))


def sure(counts):
    support, cases = counts
    return support / (cases + PRIOR)


def all_facts(kb, relation):
    """Every pair of entities in this relation, known or not: heads, tails, known."""
    entities = range(kb.vocabulary.num_entities)
    pairs = [(h, t) for h in entities for t in entities]
    known = set(map(tuple, kb.facts.tolist()))
    heads, tails = np.array(pairs, np.int32).reshape(-1, 2).T
    is_known = np.array([(h, relation, t) in known for h, t in pairs], bool)
    return np.ascontiguousarray(heads), np.ascontiguousarray(tails), is_known


def explainer(facts, names, enough=30, vectors=None, types=None):
    never = never_together(facts, names, enough)
    return Explainer(facts, names, types, Links(facts, names), never, lambda: vectors)


@given(GRAPHS)
def test_rules_with_constants_are_those_of_slow_loops(kb):
    names, found = kb.vocabulary, counting_of(kb)
    known_facts = set(map(tuple, kb.facts.tolist()))
    graph = found.graph
    for relation in range(names.num_relations):
        heads, tails, known = all_facts(kb, relation)
        backward = relation + names.num_relations
        for slot, anchors, entities in ((relation, heads, tails), (backward, tails, heads)):
            items = np.where(anchors == entities, NONE, found.items(slot, entities))
            rules = found.having(anchors, items.astype(np.int32), known)
            for row, (anchor, entity) in enumerate(zip(anchors, entities, strict=True)):
                slow = oracles.constant_rules(
                    known_facts, names.num_relations, names.num_entities, anchor, slot, entity
                )
                fast = {}
                for body, support, cases in zip(
                    *(c[row].tolist() for c in (rules.bodies, rules.support, rules.cases)),
                    strict=True,
                ):
                    if body >= graph.num_items:
                        fast[(body - graph.num_items,)] = (support, cases)
                    elif body != NONE:
                        key = (int(graph.item_slots[body]), int(graph.item_entities[body]))
                        fast[key] = (support, cases)
                surest = sorted((s / (c + PRIOR) for s, c in slow.values()), reverse=True)[:KEPT]
                assert [s / (c + PRIOR) for s, c in fast.values()] == surest
                assert fast.items() <= slow.items()


@given(GRAPHS)
def test_constants_after_two_steps_are_those_of_slow_loops(kb):
    names, found = kb.vocabulary, counting_of(kb)
    graph, links = found.graph, rules_oracles.links(kb.facts, names.num_relations)
    for relation in range(names.num_relations):
        heads, tails, known = all_facts(kb, relation)
        backward = relation + names.num_relations
        for slot, anchors, entities in ((relation, heads, tails), (backward, tails, heads)):
            items = np.where(anchors == entities, NONE, found.items(slot, entities))
            rules = found.beyond(anchors, items.astype(np.int32), known)
            for row in np.flatnonzero(items != NONE).tolist():
                candidate = int(anchors[row]), slot, int(entities[row])
                slow = rules_oracles.ends_of_fact(links, candidate)
                there = rules.slots[row] != NONE
                fast = {}
                for by, item, middle, support, cases in zip(
                    *(getattr(rules, column)[row, there].tolist() for column in rules.__slots__),
                    strict=True,
                ):
                    last = int(graph.item_slots[item]), int(graph.item_entities[item])
                    fast[by, *last] = support, cases
                    reached = rules_oracles.past(links, candidate[0], by, last, candidate[2])
                    assert middle in reached
                assert fast.items() <= slow.items()
                if len(slow) <= COUNTED:
                    surest = sorted(map(sure, slow.values()), reverse=True)[:KEPT]
                    assert [sure(counts) for counts in fast.values()] == surest


def test_a_constant_after_two_steps_is_told_with_the_entity_between():
    cities, country, language = range(4), 4, 5
    people, danes, danish = range(6, 14), range(14, 24), 24
    names = Vocabulary(
        (
            *("Oslo", "Bergen", "Moss", "Voss", "Norway", "Norwegian"),
            *(f"p{n}" for n in (*people, *danes)),
            "Danish",
        ),
        ("born in", "country", "speaks"),
    )
    facts = [[city, 1, country] for city in cities]
    facts += [[person, 0, cities[person % 4]] for person in people]
    facts += [[person, 2, language] for person in people[:-1]]
    facts += [[person, 2, danish] for person in danes]
    found = explainer(frozen(facts), names).of(np.array([[people[-1], 2, language]], np.int32), 9)
    said = [reason.sentence for reason in found.at(0)]
    assert any(
        one == "p13 was born in Bergen, and Bergen has Norway as country: "
        "7 of 8 entities born in entities with Norway as country speak Norwegian"
        for one in said
    ), said


@given(GRAPHS)
def test_paths_are_those_of_slow_loops(kb):
    names, found = kb.vocabulary, counting_of(kb)
    known_facts = set(map(tuple, kb.facts.tolist()))
    for relation in range(names.num_relations):
        heads, tails, known = all_facts(kb, relation)
        ways = found.ways(heads, relation, tails, known)
        for row, (head, tail) in enumerate(zip(heads.tolist(), tails.tolist(), strict=True)):
            mine = ways.rows == row
            fast = {
                tuple(steps[:2]): numbers
                for steps, *numbers in zip(
                    ways.steps[mine].tolist(),
                    ways.middles[mine].tolist(),
                    ways.support[mine].tolist(),
                    ways.cases[mine].tolist(),
                    strict=True,
                )
            }
            slow = oracles.path_rules(
                known_facts, names.num_relations, names.num_entities, (head, relation, tail)
            )
            assert {path: tuple(numbers) for path, numbers in fast.items()} == slow


@given(GRAPHS)
def test_a_rival_is_the_answer_that_a_slow_loop_is_surest_of(kb):
    """By rules of each form, of anchors that have no known answer."""
    names = kb.vocabulary
    sizes = names.num_relations, names.num_entities
    found = Rivalling(Graph.of(kb.facts, names.num_entities, names.num_relations))
    forms = {"constant": found.by_constant, "slot": found.by_slot, "path": found.by_path}
    known_facts = set(map(tuple, kb.facts.tolist()))
    answered = {(start, slot) for start, slot, _ in oracles.links(known_facts, sizes[0])}
    for slot in range(names.num_slots):
        entities, anchors, _ = all_facts(kb, 0)
        open_ = [row for row, anchor in enumerate(anchors) if (anchor, slot) not in answered]
        entities, anchors = entities[open_], anchors[open_]
        rivals = {name: form(anchors, slot, entities) for name, form in forms.items()}
        for row, (anchor, entity) in enumerate(zip(anchors, entities, strict=True)):
            slow = oracles.rival_answers(known_facts, *sizes, anchor, slot, entity)
            for form, mine in rivals.items():
                sure = {
                    e: max(s / (c + PRIOR) for s, c in rules) for e, rules in slow[form].items()
                }
                assert mine.confidence[row] == pytest.approx(max(sure.values(), default=0.0))
                if sure:
                    chosen = sure[int(mine.entities[row])]
                    assert chosen == pytest.approx(max(sure.values()))


def test_of_a_property_that_many_have_some_are_asked(monkeypatch):
    monkeypatch.setattr(rivalling, "LOOKED_AT", 10)
    facts = [[x, 0, 100] for x in range(100)] + [[x, 1, 101] for x in range(1, 100)]
    found = Rivalling(Graph.of(frozen(facts), 102, 2))
    asked = (np.array([0], np.int32), 1, np.array([100], np.int32))
    rivals = found.by_constant(*asked)
    assert rivals.entities.tolist() == [101] and rivals.confidence[0] == pytest.approx(
        0.86, abs=0.1
    )


@given(GRAPHS)
def test_the_first_reason_is_the_surest_rule_and_a_fact_is_the_same_alone(kb):
    names = kb.vocabulary
    known_facts = set(map(tuple, kb.facts.tolist()))
    sizes = (names.num_relations, names.num_entities)
    explains = explainer(kb.facts, names)
    links = rules_oracles.links(kb.facts, names.num_relations)
    for relation in range(names.num_relations):
        heads, tails, _ = all_facts(kb, relation)
        asked = np.stack([heads, np.full_like(heads, relation), tails], axis=1)
        together = explains.of(asked)
        for place, (head, _, tail) in enumerate(asked.tolist()):
            fact = (head, relation, tail)
            backward = relation + names.num_relations
            one = oracles.constant_rules(known_facts, *sizes, head, relation, tail)
            other = oracles.constant_rules(known_facts, *sizes, tail, backward, head)
            paths = oracles.path_rules(known_facts, *sizes, fact)
            far = [
                rules_oracles.ends_of_fact(links, query) if head != tail else {}
                for query in ((head, relation, tail), (tail, backward, head))
            ]
            vague = [c for rules in (one, other) for b, c in rules.items() if len(b) == 1]
            common = [
                oracles.how_common(known_facts, *sizes, *query)
                for query in ((head, relation, tail), (tail, backward, head))
            ]
            telling = [
                *(
                    counts
                    for rules, base in zip((one, other), common, strict=True)
                    for b, counts in rules.items()
                    if len(b) == 2 and sure(counts) >= sure(base)
                ),
                *(
                    counts
                    for rules, base in zip(far, common, strict=True)
                    for counts in rules.values()
                    if sure(counts) >= sure(base)
                ),
                *(counts for _, *counts in paths.values()),
            ]
            vague = [counts for counts in (*vague, *common) if counts[0] >= 2]
            best, any_best = (max(map(sure, rules), default=0.0) for rules in (telling, vague))
            best = any_best if best < any_best / 2 else best
            reasons = [r for r in together.at(place) if r.kind in ("head", "tail", "any", "path")]
            assert (reasons[0].confidence if reasons else 0.0) == pytest.approx(
                best if best >= LEAST else 0.0
            )
            assert [r.confidence for r in reasons] == sorted(
                (r.confidence for r in reasons), reverse=True
            )
            assert explains.of(asked[place : place + 1]).at(0) == together.at(place)


def test_no_facts_no_evidence():
    names = toy.vocabulary_of(3, 1)
    empty = explainer(toy.triples([]), names)
    assert len(empty.of(toy.triples([])).offsets) == 1
    assert empty.of(toy.triples([(0, 0, 1)])).offsets.tolist() == [0, 0]


def speakers():
    people = tuple(f"p{n}" for n in range(8))
    names = Vocabulary(
        (*people, "norway", "norwegian", "chile", "spanish"), ("citizen_of", "speaks")
    )
    facts = [[x, 0, 8] for x in range(6)] + [[x, 1, 9] for x in range(5)]
    facts += [[x, 0, 10] for x in (6, 7)] + [[6, 1, 11]]
    return frozen(facts), names


def of_one(explains, *fact):
    return explains.of(np.array([fact], np.int32)).at(0)


def test_a_rule_is_told_with_names_and_numbers():
    found = of_one(explainer(*speakers()), 5, 1, 9)
    assert found[0].sentence == "5 of 6 citizens of norway speak norwegian, among them p0 and p1"
    assert (found[0].kind, found[0].support, found[0].cases) == ("head", 5, 6)


def test_a_known_fact_is_no_evidence_for_itself():
    first = of_one(explainer(*speakers()), 0, 1, 9)[0]
    assert (first.support, first.cases) == (4, 5) and "among them p1 and p2" in first.sentence


def test_a_known_answer_speaks_against_a_second_one():
    found = of_one(explainer(*speakers()), 0, 0, 10)
    assert [r.sentence for r in found if r.kind == "answered"] == [
        "p0 is a citizen of norway already, and all 8 entities have only one such answer"
    ]


def test_of_several_known_answers_all_speak_against_another():
    """Two of forty people have two citizenships, one of them three."""
    names = Vocabulary((*(f"p{n}" for n in range(40)), *"abcd"), ("citizen_of",))
    facts = [[x, 0, 40] for x in range(40)] + [[0, 0, 41], [1, 0, 41], [1, 0, 42]]
    against = {
        person: [r.sentence for r in of_one(explainer(frozen(facts), names), person, 0, 43)
                 if r.kind == "answered"]
        for person in (0, 1)
    }  # fmt: skip
    assert against == {
        0: ["p0 is a citizen of a and b already, and 38 of 40 entities have only one such answer; "
            "2 have 2 or more"],
        1: ["p1 is a citizen of a, b and c already, and 38 of 40 entities have only one such "
            "answer; 1 has 3 or more"],
    }  # fmt: skip


def directors(typed):
    """Eight films by eight people, who live in two countries; seven were made there."""
    film, person, country = range(8), range(8, 16), (16, 17)
    names = Vocabulary(
        (*(f"film{n}" for n in film), *(f"Ann{n}" for n in film), "Norway", "Chile"),
        ("was directed by", "is a citizen of", "was produced in"),
    )
    facts = [[n, 0, n + 8] for n in film] + [[n, 1, country[n % 2]] for n in person]
    facts += [[n, 2, country[n % 2]] for n in range(7)]
    kinds = [[n, 0] for n in film] + [[n, 1] for n in person] + [[n, 2] for n in country]
    types = Types.of_pairs(("film", "person", "country"), toy.pairs(kinds), toy.pairs([]), 18, 6)
    return explainer(frozen(facts), names, types=types if typed else None)


def test_types_say_who_is_a_person_and_what_a_rule_is_about():
    typed, untyped = (of_one(directors(types), 7, 2, 17)[0].sentence for types in (True, False))
    assert typed == (
        "film7 was directed by Ann7, who is a citizen of Chile: "
        "in 7 of 8 such cases, the film was produced in the country, too"
    )
    assert untyped == (
        "film7 was directed by Ann7, and Ann7 is a citizen of Chile: "
        "in 7 of 8 such cases, a fact like “film7 was produced in Chile” is known, too"
    )


def test_where_many_have_several_answers_a_known_one_says_nothing():
    facts, names = speakers()
    several = np.concatenate([facts, frozen([[x, 0, 10] for x in range(3)])])
    assert not [r for r in of_one(explainer(several, names), 4, 0, 10) if r.kind == "answered"]


def test_an_answer_that_rules_favour_is_a_rival():
    found = of_one(explainer(*speakers()), 5, 1, 11)
    assert [r.sentence for r in found if r.kind == "rival"] == [
        "more speaks for “p5 speaks norwegian”: "
        "5 of 6 citizens of norway speak norwegian, among them p0 and p1"
    ]
    assert not [r for r in of_one(explainer(*speakers()), 5, 1, 9) if r.kind == "rival"]


def towns():
    """Nine people, each in a town of their own, and each town in a country of its own."""
    names = Vocabulary(
        tuple(f"{kind}{n}" for kind in ("person", "town", "country") for n in range(9)),
        ("lives in", "is a town of", "is a citizen of"),
    )
    facts = [[n, 0, 9 + n] for n in range(9)] + [[9 + n, 1, 18 + n] for n in range(9)]
    return frozen(facts + [[n, 2, 18 + n] for n in range(8)]), names


def test_an_answer_that_only_a_path_favours_is_a_rival_from_either_end():
    explains = explainer(*towns())
    (rival,) = (r for r in of_one(explains, 8, 2, 20) if r.kind == "rival")
    assert (rival.support, rival.cases) == (8, 9)
    assert rival.sentence == (
        "more speaks for “person8 is a citizen of country8”: person8 lives in town8, and town8 is "
        "a town of country8: in 8 of 9 such cases, a fact like “person8 is a citizen of country8” "
        "is known, too"
    )
    assert not [r for r in of_one(explains, 8, 2, 26) if r.kind == "rival"]
    (back,) = (r for r in of_one(explains, 1, 2, 26) if r.kind == "rival")
    assert back.sentence.startswith("more speaks for “person8 is a citizen of country8”: person8")


def test_a_pair_joined_as_no_pair_of_the_relation_is_told():
    names = Vocabulary(tuple(f"p{n}" for n in range(20)), ("is married to", "child"))
    facts = frozen([[x, 0, x + 1] for x in range(0, 8, 2)] + [[x, 1, x + 9] for x in range(9)])
    found = of_one(explainer(facts, names, enough=4), 0, 1, 1)
    assert [r.sentence for r in found if r.kind == "never"] == [
        "p0 is married to p1, and in none of 4 such cases is a fact like “p0 has p1 as child” known"
    ]


def test_without_a_rule_the_nearest_known_facts_are_shown():
    facts, names = speakers()
    vectors = np.eye(12)
    vectors[7] = vectors[6]
    found = of_one(explainer(facts, names, vectors=vectors), 7, 1, 11)
    assert [r.kind for r in found][:2] == ["similar", "similar"]
    assert found[0].sentence == "like the known fact: p6 speaks spanish"
    assert np.isnan(found[0].confidence)


def test_a_path_is_told_as_facts_and_a_symmetric_relation_as_such():
    names = Vocabulary(tuple("abcdefgh"), ("borders", "is part of"))
    both = [[x, 0, y] for x, y in ((0, 1), (1, 0), (2, 3), (3, 2), (4, 5), (5, 4), (6, 7))]
    explains = explainer(frozen(both), names)
    assert of_one(explains, 7, 0, 6)[0].sentence == (
        "g borders h, and 6 of 7 known facts with “borders” hold both ways"
    )
    joined = [
        [0, 1, 1],
        [1, 1, 2],
        [0, 1, 2],
        [3, 1, 4],
        [4, 1, 5],
        [3, 1, 5],
        [5, 1, 6],
        [6, 1, 7],
    ]
    found = of_one(explainer(frozen(joined), names), 5, 1, 7)
    assert found[0].sentence == (
        "f is part of g, and g is part of h: "
        "in 2 of 5 such cases, a fact like “f is part of h” is known, too"
    )


def test_a_rule_that_is_less_sure_than_the_answer_is_common_says_nothing():
    """All speak norwegian; of those who like fish, fewer do."""
    names = Vocabulary((*(f"p{n}" for n in range(30)), "norwegian", "fish"), ("speaks", "likes"))
    facts = [[x, 0, 30] for x in range(20)] + [[x, 1, 31] for x in range(15, 29)]
    (reason,) = of_one(explainer(frozen(facts), names), 28, 0, 30)
    assert (reason.kind, reason.support, reason.cases) == ("any", 20, 20)
    assert reason.sentence == (
        "All 20 entities that speak anything speak norwegian, among them p0 and p1"
    )
