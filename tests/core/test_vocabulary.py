"""Names stand once, labels for all or none."""

import numpy as np
import pytest

from assent.core.vocabulary import SIDES, Vocabulary
from assent.errors import DataError


def test_a_name_that_stands_twice_is_refused():
    with pytest.raises(DataError, match="entities: a name stands twice"):
        Vocabulary(("ada", "ada"), ("knows",))
    with pytest.raises(DataError, match="relations: a name stands twice"):
        Vocabulary(("ada",), ("knows", "knows"))


def test_labels_for_some_only_are_refused():
    with pytest.raises(DataError, match="2 names, but 1 labels"):
        Vocabulary(("ada", "ben"), ("knows",), entity_labels=("Ada",))


def test_people_read_labels_where_there_are_any_and_names_else():
    plain = Vocabulary(("Q1", "Q2"), ("P1",))
    labelled = Vocabulary(("Q1", "Q2"), ("P1",), ("Ada", "Ben"), ("knows",))
    assert (plain.entity(1), labelled.entity(1)) == ("Q2", "Ben")
    assert (plain.relation(0), labelled.relation(0)) == ("P1", "knows")


def test_the_relation_after_the_last_one_is_the_inverse_of_the_first():
    vocabulary = Vocabulary(("ada",), ("knows", "likes"))
    assert vocabulary.relation(2) == "inverse of knows"
    assert vocabulary.relation(3) == "inverse of likes"


def test_keeping_entities_keeps_their_labels_and_all_relations():
    vocabulary = Vocabulary(("a", "b", "c"), ("knows",), ("Ada", "Ben", "Cleo"))
    kept = vocabulary.with_entities([2, 0])
    assert kept.entities == ("c", "a")
    assert kept.entity_labels == ("Cleo", "Ada")
    assert kept.relations == ("knows",)
    assert (kept.num_entities, kept.num_relations) == (2, 1)


def test_keeping_entities_without_labels_invents_none():
    assert Vocabulary(("a", "b"), ("knows",)).with_entities([1]).entity_labels == ()


def test_each_relation_has_a_slot_for_its_tail_and_one_for_its_head():
    vocabulary = Vocabulary(("ada",), ("knows", "likes"))
    assert vocabulary.num_slots == 4
    assert vocabulary.slots_of(1) == (1, 3)
    assert [vocabulary.side(slot) for slot in range(4)] == ["tail", "tail", "head", "head"]


def test_the_inverse_of_the_inverse_is_the_slot_itself():
    vocabulary = Vocabulary(("ada",), ("knows", "likes"))
    slots = np.arange(4, dtype=np.int32)
    assert vocabulary.inverse(slots).tolist() == [2, 3, 0, 1]
    assert vocabulary.inverse(vocabulary.inverse(slots)).tolist() == slots.tolist()


def test_a_slot_is_a_relation_and_a_side():
    vocabulary = Vocabulary(("ada",), ("knows", "likes"))
    slots = np.arange(4, dtype=np.int32)
    assert vocabulary.relations_of(slots).tolist() == [0, 1, 0, 1]
    assert [vocabulary.relation_name(slot) for slot in range(4)] == ["knows", "likes"] * 2
    assert vocabulary.asks_for_head(slots).tolist() == [False, False, True, True]
    sides = [SIDES.index(vocabulary.side(slot)) for slot in range(4)]
    assert vocabulary.slots_at(vocabulary.relations_of(slots), sides).tolist() == slots.tolist()


def test_values_of_slots_are_told_by_side_and_name():
    vocabulary = Vocabulary(("ada",), ("knows", "likes"))
    assert vocabulary.by_side([1, 2, 3, 4]) == {
        "tail": {"knows": 1, "likes": 2},
        "head": {"knows": 3, "likes": 4},
    }
    assert vocabulary.named([3, 0, 2]) == {"tail": ["knows"], "head": ["likes", "knows"]}


def test_a_vocabulary_without_relations_has_no_slots():
    vocabulary = Vocabulary(("ada",), ())
    assert vocabulary.num_slots == 0
    assert vocabulary.by_side([]) == {"tail": {}, "head": {}}
