"""Relations are said as people would, whatever the shape of their labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.core.arrays import frozen
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.rules.wording import Wording, plural, readable

# label: the fact, the group and the clause seen from the head, then from the tail
SAID = {
    "borders": (
        "A borders B", "entities that border B", "border B",
        "entities that A borders", "are among those that A borders",
    ),
    "has capital": (
        "A has B as capital", "entities with B as capital", "have B as capital",
        "capitals of A", "are capitals of A",
    ),
    "is a city in": (
        "A is a city in B", "cities in B", "are cities in B",
        "entities with A as a city", "have A as a city",
    ),
    "member of political party": (
        "A is a member of political party B", "members of political party B",
        "are members of political party B", "entities with A as a member", "have A as a member",
    ),
    "educated at": (
        "A is educated at B", "entities educated at B", "are educated at B",
        "entities that A is educated at", "are among those that A is educated at",
    ),
    "observes holiday": (
        "A observes holiday B", "entities that observe holiday B", "observe holiday B",
        "entities that A observes as holiday", "are among those that A observes",
    ),
    "country of citizenship": (
        "A has B as country of citizenship", "entities with B as country of citizenship",
        "have B as country of citizenship", "countries of citizenship of A",
        "are countries of citizenship of A",
    ),
    "languages spoken, written, or signed": (
        "A has B among its languages spoken, written, or signed",
        "entities with B among their languages spoken, written, or signed",
        "have B among their languages spoken, written, or signed",
        "languages spoken, written, or signed of A",
        "are languages spoken, written, or signed of A",
    ),
    "drug used for treatment": (
        "A has B as drug used for treatment", "entities with B as drug used for treatment",
        "have B as drug used for treatment", "drugs used for treatment of A",
        "are drugs used for treatment of A",
    ),
    "widely speaks": (
        "A widely speaks B", "entities that widely speak B", "widely speak B",
        "entities that A widely speaks", "are among those that A widely speaks",
    ),
    "P31": (
        "A has B as P31", "entities with B as P31", "have B as P31",
        "entities that A has as P31", "are among those that A has as P31",
    ),
    "lives_in": (
        "A lives in B", "entities that live in B", "live in B",
        "entities that A lives in", "are among those that A lives in",
    ),
}  # fmt: skip


def wording(label, types=None, names=("A", "B")):
    vocabulary = Vocabulary(("a", "b"), ("r",), names, (label,))
    return Wording(vocabulary, types, frozen([[0, 0, 1]]))


@pytest.mark.parametrize("label", SAID)
def test_a_relation_is_said_in_its_own_way(label):
    words = wording(label)
    assert SAID[label] == (
        words.told(0, 0, 1), words.group(0, 1), words.clause(0, 1),
        words.group(1, 0), words.clause(1, 0),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("label", "forwards"),
    [
        ("borders", "entities that border anything"),
        ("uses calendar", "entities that use any calendar"),
        ("is written in script", "entities written in any script"),
        ("belongs to metazone", "entities that belong to any metazone"),
        ("occupation", "entities with any occupation"),
        ("is a city in", "cities in anything"),
        ("is a city in time zone", "cities in any time zone"),
    ],
)
def test_anyone_may_stand_at_the_other_end(label, forwards):
    assert wording(label).group(0, None) == forwards


def test_what_a_name_ends_in_is_not_said_twice():
    words = wording("is a city in time zone", names=("Busan", "Seoul time zone"))
    assert words.told(0, 0, 1) == "Busan is a city in Seoul time zone"
    assert wording("has capital", names=("Peru", "the capital")).told(0, 0, 1) == (
        "Peru has the capital"
    )


def test_types_name_those_who_have_a_relation():
    types = Types.of_pairs(
        ("http://x/Country", "http://x/Holiday", "Q5"), [[0, 0], [0, 2], [1, 1]], [], 2, 2
    )
    words = wording("observes holiday", types, ("Peru", "Carnival"))
    assert words.group(0, 1) == "countries that observe holiday Carnival"
    assert words.group(1, 0) == "holidays that Peru observes"
    assert words.kind(0) == "countries"


def test_names_that_are_iris_or_paths_are_said_by_their_last_part():
    assert readable("http://example.org/citizen_of") == "citizen of"
    assert readable("/people/person/nationality") == "nationality"
    names = Vocabulary(("http://x.org/Oslo", "http://x.org/Norway"), ("http://x.org/city_in",))
    assert Wording(names, None, frozen([[0, 0, 1]])).told(0, 0, 1) == "Oslo is a city in Norway"


def test_names_may_hold_anything():
    for name in ("{}", "{kind}", "%s", "a {h} b"):
        assert name in wording("borders", names=(name, name)).told(0, 0, 1)
        assert name in wording("borders", names=(name, name)).group(0, 1)
        assert wording(name).told(0, 0, 1)


WORDS = st.sampled_from(
    ["is", "has", "of", "in", "the", "a", "city", "widely", "speaks", "used", "by", "works,", "{}"]
)


@given(st.one_of(st.text(max_size=12), st.lists(WORDS, max_size=5).map(" ".join)))
def test_no_label_breaks_a_sentence(label):
    words = wording(label)
    for slot, end in ((0, 1), (1, 0)):
        assert words.group(slot, None)
        assert words.entity(end) in words.group(slot, end)
        assert words.entity(end) in words.clause(slot, end)
    assert words.told(0, 0, 1).startswith("A") and "?" in words.asked(1, 1)


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("city", "cities"),
        ("day", "days"),
        ("church", "churches"),
        ("child", "children"),
        ("head of state", "heads of state"),
        ("language spoken", "languages spoken"),
    ],
)
def test_plurals(one, many):
    assert plural(one) == many
