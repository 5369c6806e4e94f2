"""What the page shows of names and numbers, whatever they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.reviewing.cards import End
from assent.reviewing.choosing import ORDERS
from assent.reviewing.labels import VERDICTS
from assent.reviewing.page import shown
from assent.reviewing.worth import Reviewer


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("Kyiv", "Kyiv"),
        ("", ""),
        ("שלום", "שלום"),
        ("<b>&amp;", "<b>&amp;"),  # becomes text in the browser, where nothing is escaped twice
        ("\u202eexe.gnp", "⟨U+202E⟩exe.gnp"),
        ("a\u2028b\tc\u0000", "a⟨U+2028⟩b⟨U+0009⟩c⟨U+0000⟩"),
        ("\ufeffa\u00ad", "⟨U+FEFF⟩a⟨U+00AD⟩"),
        ("\u0646\u0645\u200c\u062e", "\u0646\u0645\u200c\u062e"),  # Persian needs the joiner
        ("x" * 301, "x" * 300 + "… (301 letters)"),
    ],
)
def test_a_name_is_shown_as_it_is_but_for_what_hides_and_what_is_too_long(name, seen):
    assert shown.legible(name) == seen


@given(st.text(max_size=400))
def test_no_name_can_turn_the_text_around_it(name):
    seen = shown.legible(name)
    assert not set(seen) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")
    assert all(c.isprintable() or c in "\u200c\u200d" or not ord(c) < 32 for c in seen)


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (0, "0 %"),
        (0.0001, "< 1 %"),
        (0.006, "1 %"),
        (0.5, "50 %"),
        (0.9999, "> 99 %"),
        (1, "100 %"),
    ],
)
def test_a_probability_is_0_or_100_only_where_it_is_that(value, seen):
    assert shown.percent(value).replace("\u00a0", " ") == seen


@pytest.mark.parametrize("name", ["javascript:alert(1)", "data:text/html,x", "city:1", "//evil"])
def test_only_web_addresses_become_links(name):
    assert shown.end(End(name, name))["iri"] == ""
    assert shown.end(End("https://a.example/1", "A")) == {
        "label": "A",
        "iri": "https://a.example/1",
    }


def test_every_verdict_has_a_button_and_every_order_a_name():
    verdicts = [action.name for action in shown.ACTIONS if action.kind == "verdict"]
    assert verdicts == list(VERDICTS)
    assert [order.name for order in shown.ORDERS] == list(ORDERS) == list(shown.WHY)
    assert len({action.key for action in shown.ACTIONS}) == len(shown.ACTIONS)


def test_how_well_someone_decides_is_said_once_it_tells_of_no_single_fact():
    assert shown.did(Reviewer("anna", 40, 12.0, 4, 3)) == "40 decisions"
    told = shown.did(Reviewer("anna", 1_200, 12.0, 80, 77))
    assert told == "1,200 decisions; right about 77 of 80 that are known"


def test_it_is_said_that_labels_changed_a_probability(opened):
    reading = shown.Reading(opened)
    first = opened.next("ann")
    assert reading.card(first)["recalibrated"] == ""
    opened.decide(first.key, "wrong", "ann", order=first.order)
    card = opened.next("ann")
    before = shown.percent(card.probability_before)
    assert reading.card(card)["recalibrated"] == f"recalibrated by 1 label; {before} before"
