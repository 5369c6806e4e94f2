"""What is written about entities, and which ids are words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.core.texts import Texts, in_words, words
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dog.n.01", "dog n 01"),
        ("bornIn", "born In"),
        ("acquired_abnormality", "acquired abnormality"),
        ("timezone:Africa/Johannesburg", "timezone Africa Johannesburg"),
        ("Zürich", "Zürich"),
        ("東京都庁", "東京都庁"),
        ("Q42", ""),
        ("/m/06rf7", ""),
        ("/m/02hrh1q", ""),  # three letters, but no vowel
        ("00260881", ""),
        ("", ""),
    ],
)
def test_an_id_is_words_or_it_says_nothing(name, expected):
    assert in_words(name) == expected


def test_words_know_neither_case_nor_accents():
    assert words("São Paulo's  BRAZILIAN_Real (1990)") == [
        "sao",
        "paulo",
        "s",
        "brazilian",
        "real",
        "1990",
    ]


@given(st.text())
def test_words_are_words_again(text):
    again = words(" ".join(words(text)))
    assert words(" ".join(again)) == again


def test_a_text_is_the_label_then_what_is_told_then_the_words_of_the_id():
    names = Vocabulary(("city:1", "Q2", "Q3"), ("near",), ("Rome", "Oslo", "Q3"))
    kinds = Types.of_pairs(("city", "capital"), np.array([[0, 0], [0, 1]]), np.empty((0, 2)), 3, 2)
    texts = Texts.of(names, kinds, ("seat of the Pope", "", ""))
    assert texts.names == ("Rome seat of the Pope city 1", "Oslo", "")
    assert texts.types == (("city", "capital"), (), ())
    assert texts.sentences() == ["Rome seat of the Pope city 1, city, capital", "Oslo", ""]
    assert texts.vectors.shape == (3, 0)
    assert texts.summary() == "texts: 2 of 3 entities have names in words, 1 have types"


def test_texts_are_true_if_anything_is_known():
    nothing = Vocabulary(("Q1", "Q2"), ("P1",))
    assert not Texts.of(nothing)
    assert Texts.of(nothing, None, ("", "Oslo"))
    assert Texts.plain(["", ""], [[], ["city"]])


def test_the_texts_of_later_entities():
    texts = Texts.plain(["a", "b", "c"], [["x"], [], ["y"]]).encoded(np.eye(3))
    later = texts.since(1)
    assert (later.names, later.types) == (("b", "c"), ((), ("y",)))
    assert np.array_equal(later.vectors, np.eye(3)[1:])


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(DataError, match="2 names, but types of 1 entities"):
        Texts.plain(["a", "b"], [["x"]])
    with pytest.raises(DataError, match="vectors of 3"):
        Texts.plain(["a", "b"]).encoded(np.eye(3))
