"""Relations are said as people would, whatever the shape of their labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.core.arrays import frozen
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.rules.phrases import around_tail
from assent.rules.wording import Wording
from assent.rules.words import is_person, plural, readable

# label: the fact, the group and the claim seen from the head, then from the tail
SAID = {
    "borders": (
        "A borders B", "entities that border B", "3 border B",
        "entities that A borders", "A borders 3",
    ),
    "has capital": (
        "A has B as capital", "entities with B as capital", "3 have B as capital",
        "capitals of A", "3 are capitals of A",
    ),
    "is a city in": (
        "A is a city in B", "cities in B", "3 are cities in B",
        "entities with A as a city", "3 have A as a city",
    ),
    "member of political party": (
        "A is a member of political party B", "members of political party B",
        "3 are members of political party B", "entities with A as a member", "3 have A as a member",
    ),
    "educated at": (
        "A is educated at B", "entities educated at B", "3 are educated at B",
        "entities that A is educated at", "A is educated at 3",
    ),
    "observes holiday": (
        "A observes holiday B", "entities that observe holiday B", "3 observe holiday B",
        "entities that A observes as holiday", "A observes 3",
    ),
    "country of citizenship": (
        "A has B as country of citizenship", "entities with B as country of citizenship",
        "3 have B as country of citizenship", "countries of citizenship of A",
        "3 are countries of citizenship of A",
    ),
    "languages spoken, written, or signed": (
        "A has B among its languages spoken, written, or signed",
        "entities with B among their languages spoken, written, or signed",
        "3 have B among their languages spoken, written, or signed",
        "languages spoken, written, or signed by A",
        "3 are languages spoken, written, or signed by A",
    ),
    "drug used for treatment": (
        "A has B as drug used for treatment", "entities with B as drug used for treatment",
        "3 have B as drug used for treatment", "drugs used for treatment of A",
        "3 are drugs used for treatment of A",
    ),
    "widely speaks": (
        "A widely speaks B", "entities that widely speak B", "3 widely speak B",
        "entities that A widely speaks", "A widely speaks 3",
    ),
    "P31": (
        "A has B as P31", "entities with B as P31", "3 have B as P31",
        "entities that A has as P31", "A has 3 as P31",
    ),
    "lives_in": (
        "A lives in B", "entities that live in B", "3 live in B",
        "entities that A lives in", "A lives in 3",
    ),
}  # fmt: skip


def wording(label, types=None, names=("A", "B")):
    vocabulary = Vocabulary(("a", "b"), ("r",), names, (label,))
    return Wording(vocabulary, types, frozen([[0, 0, 1]]))


@pytest.mark.parametrize("label", SAID)
def test_a_relation_is_said_in_its_own_way(label):
    words = wording(label)
    assert SAID[label] == (
        words.told(0, 0, 1), words.group(0, 1), words.claim("3", 0, 1),
        words.group(1, 0), words.claim("3", 1, 0),
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
        ("widely speaks", "entities that widely speak anything"),
        ("has won prize", "entities that have won any prize"),
        ("known as", "entities known as anything"),
        ("starring", "entities starring anything"),
        ("is a city in time zone", "cities in any time zone"),
        ("is in the language", "entities that are in any language"),
        ("is a city on the continent", "cities on any continent"),
        ("was released in the", "entities released in anything"),
    ],
)
def test_anyone_may_stand_at_the_other_end(label, forwards):
    assert wording(label).group(0, None) == forwards


@pytest.mark.parametrize(
    ("label", "backwards"),
    [
        ("is based in", "entities that something is based in"),
        ("uses currency", "entities that something uses as currency"),
        ("capital", "capitals of anything"),
        ("member of", "entities with any member"),
    ],
)
def test_something_may_stand_at_the_head(label, backwards):
    assert wording(label).group(1, None) == backwards


@pytest.mark.parametrize(
    ("name", "told", "tails"),
    [
        ("hasCapital", "A has B as capital", "capitals of A"),
        ("http://x.org/ns#isLocatedIn", "A is located in B", "entities that A is located in"),
        ("ex:birthPlace", "A has B as birth place", "birth places of A"),
        ("film/genre", "A has B as genre", "genres of A"),
        ("has_part", "A has B as a part", "parts of A"),
        ("isMemberOf", "A is a member of B", "entities with A as a member"),
        ("wasBornOnDate", "A was born on date B", "entities that A was born on"),
        ("bornIn", "A was born in B", "entities that A was born in"),
        ("hasID", "A has B as ID", "IDs of A"),
        ("starring", "A is starring B", "entities that A is starring"),
        ("sibling", "A has B as sibling", "siblings of A"),
        ("children", "A has B among its children", "children of A"),
        ("headquarters", "A has B as headquarters", "headquarters of A"),
        ("founded", "A founded B", "entities that A founded"),
        ("wrote in the genre", "A wrote in the genre B", "entities that A wrote in"),
        ("wrote", "A wrote B", "entities that A wrote"),
        ("became", "A became B", "entities that A became"),
        ("bought", "A bought B", "entities that A bought"),
        ("bought by", "A is bought by B", "entities that A is bought by"),
        ("graduatedFrom", "A graduated from B", "entities that A graduated from"),
        ("conceptually_related_to", "A is conceptually related to B",
         "entities that A is conceptually related to"),
        ("carries_out", "A carries out B", "entities that A carries out"),
        ("award received", "A has B as award received", "awards received by A"),
        ("rdf:type", "A is a B", "entities with A as an instance"),
        ("isa", "A is a B", "entities with A as an instance"),
        ("sameAs", "A is the same as B", "entities that A is the same as"),
    ],
)  # fmt: skip
def test_names_in_any_style_are_said_as_words(name, told, tails):
    words = wording(name)
    assert (words.told(0, 0, 1), words.group(1, 0)) == (told, tails)


def test_what_a_name_ends_in_is_not_said_twice():
    words = wording("is a city in time zone", names=("Busan", "Seoul time zone"))
    assert words.told(0, 0, 1) == "Busan is a city in Seoul time zone"
    words = wording("is in the", names=("Ann", "The Hague"))
    assert words.told(0, 0, 1) == "Ann is in The Hague"
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


FILMS = ("film", "person", "country")  # the types of Alien, Scott and France


def films(label, head, tail, types=True):
    """A fact between two of Alien, Scott and France, beside one that Scott was born in France."""
    own = Types.of_pairs(FILMS, [[n, n] for n in range(3)], [], 3, 4) if types else None
    names = Vocabulary(("a", "s", "f"), ("r", "born"), ("Alien", "Scott", "France"),
                       (label, "was born in"))  # fmt: skip
    return Wording(names, own, frozen([[head, 0, tail], [1, 1, 2]]))


def test_people_are_who_and_things_are_that():
    assert films("speaks", 1, 2).group(0, 2) == "people who speak France"
    assert films("borders", 0, 2).group(0, 2) == "films that border France"
    assert films("speaks", 1, 2, types=False).group(0, 2) == "entities that speak France"
    assert films("was directed by", 0, 1).group(2, 0) == "people who directed Alien"
    assert films("was directed by", 0, 1).claim("both", 2, 0) == "Both directed Alien"
    assert films("was born in", 1, 2).group(2, 1) == "countries that Scott was born in"
    assert films("borders", 0, 1).is_person(1) and not films("borders", 0, 1).is_person(0)
    assert not films("borders", 0, 1, types=False).is_person(1)


@pytest.mark.parametrize(
    ("kind", "person"),
    [
        ("person", True),
        ("people", True),
        ("/people/deceased_person", True),
        ("http://schema.org/Person", True),
        ("film actors", True),
        ("women", True),
        ("wordnet_person_100007846", True),
        ("Q5", True),
        ("Q515", False),
        ("person group", False),
        ("film", False),
        ("", False),
    ],
)
def test_the_name_of_a_type_tells_whether_it_is_about_people(kind, person):
    assert is_person(kind) is person


@pytest.mark.parametrize(
    ("label", "ends", "forwards", "backwards"),
    [
        ("is a citizen of", (1, 2), "citizens of any country", "countries with any citizen"),
        ("speaks", (1, 2), "people who speak any country", "countries that a person speaks"),
        ("was directed by", (0, 1), "films directed by any person", "people who directed any film"),
        ("was released in the", (0, 2), "films released in any country",
         "countries that a film was released in"),
    ],
)  # fmt: skip
def test_types_say_who_stands_at_the_other_end(label, ends, forwards, backwards):
    words = films(label, *ends)
    assert (words.group(0, None), words.group(2, None)) == (forwards, backwards)


@pytest.mark.parametrize(
    ("label", "ends", "types", "said"),
    [
        ("was directed by", (0, 1), True, "films directed by people born in France"),
        ("follows", (0, 1), True, "films that follow people born in France"),
        ("has stars", (0, 1), True, "films with people born in France among their stars"),
        ("is about the person", (0, 1), True, "films that are about people born in France"),
        ("is about the person", (0, 1), False, "entities that are about people born in France"),
        ("was directed by", (0, 1), False, "entities directed by entities born in France"),
    ],
)
def test_a_group_may_be_told_by_another_group(label, ends, types, said):
    assert films(label, *ends, types=types).group_of_group(0, 1, 2) == said


def test_several_at_the_other_end_do_what_one_does():
    words = films("was directed by", 0, 1)
    assert words.group_of_group(3, 2, 0) == "countries that people who directed Alien were born in"


@pytest.mark.parametrize(
    ("label", "types", "others", "said"),
    [
        ("was produced in", True, (), "the film was produced in the country"),
        ("is in the country", True, (), "the film is in the country"),
        ("is a film from", True, (), "the film is from the country"),
        ("has the country", True, (), "the film has the country"),
        ("was produced in", True, (1,), "the film was produced in the country"),
        ("was produced in", True, (3,), "a fact like “Alien was produced in France” is known"),
        ("was produced in", False, (), "a fact like “Alien was produced in France” is known"),
    ],
)
def test_types_say_what_a_fact_is_about_if_they_tell_its_ends_apart(label, types, others, said):
    assert films(label, 0, 2, types).case((0, 0, 2), others) == said


def test_of_many_answers_a_few_are_named():
    names = Vocabulary(tuple("abcdef"), ("r",), None, ("is a citizen of",))
    words = Wording(names, None, frozen([[0, 0, 1]]))
    assert words.told_of_all(0, 0, [1]) == "a is a citizen of b"
    assert words.told_of_all(0, 0, [1, 2, 3]) == "a is a citizen of b, c and d"
    assert words.told_of_all(0, 0, [1, 2, 3, 4, 5]) == "a is a citizen of b, c, d and 2 more"
    assert words.told_of_all(1, 1, [0, 2]) == "a and c are citizens of b"


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
        assert words.entity(end) in words.claim("both", slot, end)
    assert words.told(0, 0, 1).startswith("A") and "?" in words.asked(1, 1)


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("city", "cities"),
        ("day", "days"),
        ("church", "churches"),
        ("epoch", "epochs"),
        ("child", "children"),
        ("head of state", "heads of state"),
        ("language spoken", "languages spoken"),
    ],
)
def test_plurals(one, many):
    assert plural(one) == many


@pytest.mark.parametrize(
    ("label", "around"),
    [
        ("has capital", ("has", "as capital")),
        ("has as official language", ("has", "as official language")),
        ("http://x.org/isLocatedIn", ("is located in", "")),
        ("borders", ("borders", "")),
        ("Hauptstadt, früher", ("Hauptstadt, früher", "")),  # no plain words: as it is
        ("{{ 7 * 7 }} <b>", ("{{ 7 * 7 }} <b>", "")),
        ("P31", ("P31", "")),
        ("x" * 200, ("x" * 200, "")),
    ],
)
def test_a_fact_is_told_around_its_tail(label, around):
    assert around_tail(label) == around


def test_what_the_tail_ends_in_is_not_said_twice_around_it():
    assert around_tail("uses calendar", "gregorian calendar") == ("uses", "")
    assert around_tail("uses calendar", "Hijri") == ("uses calendar", "")
    assert around_tail("has capital", "the capital") == ("has", "")
