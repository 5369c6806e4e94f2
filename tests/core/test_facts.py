"""A knowledge base holds each fact once, in order, and in the first split that has it."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toy
from assent.core.facts import KnowledgeBase, Source, Split, fact_keys, facts_of, translated
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError

TWO_AND_ONE = toy.vocabulary_of(2, 1)


def test_facts_are_sorted_and_a_fact_that_stands_twice_is_merged_and_counted():
    kb = KnowledgeBase.of_ids(TWO_AND_ONE, toy.triples([(1, 0, 0), (0, 0, 1), (1, 0, 0)]))
    assert kb.facts.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert kb.source.duplicates == 1


def test_a_fact_in_train_and_test_stays_in_train():
    facts = toy.triples([(0, 0, 1), (0, 0, 1), (1, 0, 0)])
    splits = np.array([Split.TEST, Split.TRAIN, Split.TEST], np.int8)
    kb = KnowledgeBase.of_ids(TWO_AND_ONE, facts, splits)
    assert kb.part(Split.TRAIN).tolist() == [[0, 0, 1]]
    assert kb.part(Split.TEST).tolist() == [[1, 0, 0]]
    assert kb.source.duplicates == 1


@st.composite
def split_facts(draw):
    kb = draw(toy.graphs())
    vocabulary = kb.vocabulary
    facts = draw(toy.lists_of_facts(vocabulary))
    splits = draw(st.lists(st.sampled_from(Split), min_size=len(facts), max_size=len(facts)))
    return vocabulary, facts, splits


@given(split_facts())
def test_each_fact_stands_once_in_the_first_split_that_has_it(given_facts):
    vocabulary, facts, splits = given_facts
    kb = KnowledgeBase.of_ids(vocabulary, toy.triples(facts), np.array(splits, np.int8))
    first: dict = {}
    for fact, split in zip(facts, splits, strict=True):
        first[fact] = min(split, first.get(fact, split))
    assert [tuple(fact) for fact in kb.facts.tolist()] == sorted(first)
    assert kb.splits.tolist() == [first[fact] for fact in sorted(first)]
    assert kb.source.duplicates == len(facts) - len(first)
    assert kb.has_splits == any(first.values())


@given(split_facts(), st.randoms(use_true_random=False))
def test_the_order_of_the_lines_leaves_no_trace(given_facts, random):
    vocabulary, facts, splits = given_facts
    lines = list(zip(facts, splits, strict=True))
    shuffled = random.sample(lines, len(lines))
    one, other = (
        KnowledgeBase.of_ids(
            vocabulary, toy.triples(f for f, _ in part), np.array([s for _, s in part], np.int8)
        )
        for part in (lines, shuffled)
    )
    assert np.array_equal(one.facts, other.facts)
    assert np.array_equal(one.splits, other.splits)
    assert one.source == other.source


def test_duplicates_that_reading_found_are_added_up():
    facts = toy.triples([(0, 0, 1), (0, 0, 1)])
    kb = KnowledgeBase.of_ids(TWO_AND_ONE, facts, source=Source("file", duplicates=3))
    assert kb.source == Source("file", duplicates=4)


def test_a_graph_without_splits_is_all_train():
    kb = toy.whole()
    assert not kb.has_splits
    assert len(kb.part(Split.TRAIN)) == len(kb.facts) == 32
    assert len(kb.part(Split.VALID, Split.TEST)) == 0


def test_the_parts_of_the_split_toy_are_as_written():
    kb = toy.split()
    for split, text in zip(Split, (toy.TRAIN, toy.VALID, toy.TEST), strict=True):
        assert toy.named_facts(kb.part(split), kb.vocabulary) == set(toy.facts_in(text))


def test_no_facts_are_a_knowledge_base_too():
    kb = KnowledgeBase.of_ids(TWO_AND_ONE, toy.triples([]))
    assert kb.facts.shape == (0, 3)
    assert not kb.has_splits
    nothing = KnowledgeBase.of_ids(toy.vocabulary_of(0, 0), toy.triples([]))
    assert nothing.facts.shape == (0, 3)


def test_facts_and_splits_refuse_changes():
    kb = toy.split()
    for array in (kb.facts, kb.splits):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_the_callers_arrays_stay_as_they_were():
    facts = toy.triples([(1, 0, 0), (0, 0, 1)])
    KnowledgeBase.of_ids(TWO_AND_ONE, facts)
    assert facts.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert facts.flags.writeable


@pytest.mark.parametrize(
    "fact", [(2, 0, 0), (0, 1, 0), (0, 0, 2), (-1, 0, 0), (0, -1, 0), (0, 0, -1)]
)
def test_an_id_without_a_name_is_refused(fact):
    with pytest.raises(DataError, match="an id that has no name"):
        KnowledgeBase(TWO_AND_ONE, toy.triples([fact]), np.zeros(1, np.int8), Source("memory"))


@pytest.mark.parametrize(
    "fact",
    [(2, 0, 0), (0, 1, 0), (0, 2, 0), (0, 0, 2), (-1, 0, 0), (0, -1, 0), (1, -1, 0), (1, 0, -1)],
)
def test_an_id_without_a_name_is_refused_by_of_ids_too_and_never_becomes_another_fact(fact):
    with pytest.raises(DataError, match="an id that has no name"):
        KnowledgeBase.of_ids(TWO_AND_ONE, toy.triples([fact]))


def test_arrays_of_wrong_shapes_are_refused():
    with pytest.raises(DataError, match="shape"):
        KnowledgeBase(
            TWO_AND_ONE, np.zeros((2, 2), np.int32), np.zeros(2, np.int8), Source("memory")
        )
    with pytest.raises(DataError, match="shape"):
        KnowledgeBase(TWO_AND_ONE, toy.triples([(0, 0, 1)]), np.zeros(2, np.int8), Source("x"))


@given(toy.graphs())
def test_keys_ascend_with_the_facts_and_lead_back_to_them(kb):
    keys = fact_keys(kb.facts, kb.vocabulary)
    assert (np.diff(keys) > 0).all()
    assert facts_of(keys, kb.vocabulary).tolist() == kb.facts.tolist()


def test_a_graph_too_large_for_a_key_is_refused():
    large = SimpleNamespace(num_entities=2**30, num_relations=3)
    with pytest.raises(DataError, match="more than fit a key"):
        fact_keys(toy.triples([(0, 0, 0)]), large)
    nearly = SimpleNamespace(num_entities=2**30, num_relations=2)
    top = toy.triples([(2**30 - 1, 1, 2**30 - 1)])
    assert facts_of(fact_keys(top, nearly), nearly).tolist() == top.tolist()


@given(toy.graphs(), toy.graphs())
def test_in_another_vocabulary_facts_keep_their_names_and_nameless_ones_are_left_out(kb, other):
    names = other.vocabulary
    expected = {
        (head, relation, tail)
        for head, relation, tail in toy.named_facts(kb.facts, kb.vocabulary)
        if {head, tail} <= set(names.entities) and relation in names.relations
    }
    found = translated(kb, names)
    assert len(found) == len(expected)
    assert toy.named_facts(found, names) == expected


def test_ids_follow_the_other_vocabulary():
    kb = toy.of_names([("b", "likes", "a")])
    turned = Vocabulary(("b", "a", "c"), ("hates", "likes"))
    assert translated(kb, turned).tolist() == [[0, 1, 1]]
