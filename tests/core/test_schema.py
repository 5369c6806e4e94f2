"""A schema is a set of statements; its types are closed upwards."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.core.schema import PROPERTIES, Schema, upwards
from assent.errors import AssentError

NAMES = st.sampled_from("abcde")
STEPS = st.lists(st.tuples(NAMES, NAMES), max_size=9)


def reached_by_brute_force(steps, start):
    """Goes on until nothing new is reached."""
    reached = {high for low, high in steps if low == start}
    while True:
        more = reached | {high for low, high in steps if low in reached}
        if more == reached:
            return reached - {start}
        reached = more


@given(STEPS)
def test_upwards_reaches_what_brute_force_reaches(steps):
    closed = upwards(steps)
    assert set(closed) == {low for low, _ in steps}
    for start, reached in closed.items():
        assert reached == reached_by_brute_force(steps, start)


def test_types_above_types_above_a_type():
    schema = Schema.of([("port", "subClassOf", "city"), ("city", "subClassOf", "place")])
    assert schema.supertypes() == {"port": {"city", "place"}, "city": {"place"}}


def test_statements_are_found_by_what_they_say_in_order():
    schema = Schema.of(
        [("b", "range", "y"), ("a", "domain", "x"), ("a", "functional"), ("b", "domain", "x")]
    )
    assert list(schema.about("domain")) == [("a", "x"), ("b", "x")]
    assert schema.subjects("functional") == ["a"]
    assert schema.relations() == ["a", "b"]
    assert bool(schema) and not Schema()
    assert (schema | Schema.of([("c", "inverseOf", "a")])).relations() == ["a", "b", "c"]


@pytest.mark.parametrize("property_", PROPERTIES)
def test_a_statement_has_an_object_where_its_property_takes_one(property_):
    wants_object = PROPERTIES[property_][1] is not None
    right, wrong = ("a", property_, "b"), ("a", property_)
    if not wants_object:
        right, wrong = wrong, right
    assert Schema.of([right])
    with pytest.raises(AssentError, match="is no statement"):
        Schema.of([wrong])


def test_an_unknown_property_is_refused_with_the_nearest():
    with pytest.raises(AssentError, match="did you mean 'functional'"):
        Schema.of([("a", "functionall")])
