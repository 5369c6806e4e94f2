"""Questions know whether they lost answers, and those that lost all are asked too."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import oracles
import toy
from assent.building.asking import ask, ask_nothing, lost_keys
from assent.building.removing import named, remove
from assent.core.queries import Queries


def all_asked(kb, held, gone):
    """What A.1 asks, by the fast functions."""
    sizes = (kb.vocabulary.num_entities, kb.vocabulary.num_relations)
    parts = remove(kb.facts, held, gone)
    lost = lost_keys(parts.lost, gone, sizes[1])
    answered = ask(parts.answers, lost, *sizes)
    none = ask_nothing(lost, np.unique(answered.keys(sizes[0])), sizes[0])
    return toy.named(Queries.joined([answered, none]), kb.vocabulary)


def test_the_toy_without_dan_and_oslo_asks_six_answered_and_seven_empty_queries():
    kb = toy.split()
    asked = all_asked(kb, kb.splits != 0, named(["dan", "oslo"], kb.vocabulary))
    nobody = frozenset()
    assert asked == {
        ("tail", "ada", "knows", "I", frozenset({"cleo"})),  # dan is lost
        ("head", "cleo", "knows", "C", frozenset({"ada"})),
        ("tail", "ben", "knows", "C", frozenset({"ada"})),
        ("head", "ada", "knows", "C", frozenset({"ben"})),
        ("tail", "eve", "lives_in", "C", frozenset({"lima"})),
        ("head", "lima", "lives_in", "C", frozenset({"eve"})),
        ("tail", "eve", "born_in", "N", nobody),
        ("tail", "ada", "lives_in", "N", nobody),
        ("tail", "cleo", "lives_in", "N", nobody),
        ("tail", "cleo", "knows", "N", nobody),
        ("head", "eve", "knows", "N", nobody),
        ("tail", "kyiv", "twinned_with", "N", nobody),
        ("head", "rome", "twinned_with", "N", nobody),
    }


@given(toy.graphs(), st.data())
def test_asking_equals_the_paper(kb, data):
    size, entities = len(kb.facts), kb.vocabulary.entities
    held = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
    removed = data.draw(st.sets(st.sampled_from(entities), max_size=len(entities) - 1))
    train = toy.named_facts(kb.facts[~held], kb.vocabulary)
    paper = oracles.appendix_a1(train, toy.named_facts(kb.facts[held], kb.vocabulary), removed)
    if paper.train:
        assert all_asked(kb, held, named(sorted(removed), kb.vocabulary)) == paper.asked()


def test_nobody_lost_is_no_question_lost():
    nobody = np.zeros(3, bool)
    lost = lost_keys(toy.triples([]), nobody, 2)
    assert lost.tolist() == []
    assert len(ask_nothing(lost, lost, 3)) == 0


def test_answers_left_keep_a_question_out_of_the_empty_ones():
    lost, answered = np.array([1, 2, 4]), np.array([2, 3])
    none = ask_nothing(lost, answered, num_entities=3)
    assert none.keys(3).tolist() == [1, 4]
    assert none.is_none.all()
