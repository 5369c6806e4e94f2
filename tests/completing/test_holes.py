"""Entities without an answer where others of their kind have one say what a relation lacks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import completing_oracles as oracles
from assent.completing.holes import MOST_ANSWERS, NO_HOLES, Holes
from assent.completing.lacking import numbers_up_to, posterior
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary

NUMBERS = numbers_up_to(2.0)
FLAT = np.zeros((len(NUMBERS), 6))  # what candidates say: nothing, of any of six relations


def vocabulary(entities, relations):
    return Vocabulary(
        tuple(f"e{place}" for place in range(entities)),
        tuple(f"r{place}" for place in range(relations)),
    )


def found(entities, empty, answers=1):
    """One slot a relation, each entity with so many answers; a tenth of the facts is held out."""
    shares = np.zeros((len(empty), MOST_ANSWERS))
    shares[:, answers - 1] = 1
    counts = np.full(len(empty), entities), np.array(empty)
    return Holes(np.arange(len(empty), dtype=np.int32), *counts, shares, 0.1)


def means(holes):
    return NUMBERS @ posterior(FLAT, NUMBERS, holes)


@given(st.data())
def test_holes_are_counted_as_slow_loops_count_them(data):
    entity, relation = st.integers(0, 7), st.integers(0, 2)
    facts = data.draw(st.lists(st.tuples(entity, relation, entity), unique=True, max_size=25))
    lost = data.draw(st.lists(st.tuples(entity, st.integers(0, 5)), max_size=4))
    typed = data.draw(st.lists(st.sets(st.integers(0, 2)), min_size=8, max_size=8))
    pairs = [(entity, kind) for entity, kinds in enumerate(typed) for kind in kinds]
    types = Types.of_pairs(
        ("a", "b", "c"), np.array(pairs, int).reshape(-1, 2), np.empty((0, 2), int), 8, 6
    )
    holes = Holes.counted(
        np.array(facts, np.int32).reshape(-1, 3),
        np.array(lost, np.int32).reshape(-1, 2),
        types,
        vocabulary(8, 3),
        0.1,
    )
    slow = oracles.holes(facts, lost, typed, 3, MOST_ANSWERS)
    assert holes.relations.tolist() == [slot % 3 for slot, *_ in slow]
    assert holes.entities.tolist() == [size for _, size, *_ in slow]
    assert holes.empty.tolist() == [empty for _, _, empty, _ in slow]
    assert holes.answers == pytest.approx(np.array([each for *_, each in slow]).reshape(-1, 8))


def test_without_holes_a_relation_lacks_nothing():
    assert means(found(150, [0] * 6)).max() < 0.02


def test_holes_of_all_slots_are_missing_facts():
    # Of 150 entities 7 have no answer: 5 % are missing, a half of what is held out.
    assert means(found(150, [7, 6, 9, 7, 8, 7])) == pytest.approx(0.5, abs=0.15)


def test_full_slots_lack_nothing_beside_one_with_holes():
    assert means(found(150, [0, 0, 0, 0, 0, 7]))[:5].max() < 0.02


def test_candidates_that_speak_against_it_overrule_the_holes():
    fits = np.where(NUMBERS[:, None] > 0, -8.0, FLAT)
    assert (NUMBERS @ posterior(fits, NUMBERS, found(150, [0, 0, 0, 0, 0, 7]))).max() < 0.05


def test_where_most_have_no_answer_nothing_is_said():
    alone, beside = means(NO_HOLES), means(found(150, [90] * 6))
    assert beside == pytest.approx(alone, abs=0.02)


def test_an_entity_of_many_answers_is_a_hole_only_if_all_are_missing():
    assert means(found(150, [1] * 6, answers=2)).min() > means(found(150, [1] * 6)).max()
