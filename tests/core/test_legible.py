"""What a name may do to the place where it is shown."""

import pytest

from assent.core.legible import in_words, legible


def test_characters_that_hide_are_shown_by_their_numbers():
    assert legible("a\x1b[31mb\u202ec") == "a⟨U+001B⟩[31mb⟨U+202E⟩c"
    assert legible("one\ntwo") == "one⟨U+000A⟩two" and legible("one\ntwo", "\n") == "one\ntwo"


def test_scripts_that_need_joiners_keep_them():
    assert legible("a\u200cb, Čeština, 日本") == "a\u200cb, Čeština, 日本"


def test_errors_of_python_are_told_in_words_of_our_own():
    document = {"list": [1], "text": "x"}
    for wrong, told in (
        (lambda: document["format"], "'format' is missing"),
        (lambda: document["list"]["x"], "a value of the wrong kind"),
        (lambda: document.get("none").items(), "a value of the wrong kind"),
        (lambda: int("text"), "a value of the wrong kind"),
        (lambda: float("1,5"), "a value of the wrong kind"),
        (lambda: dict([1]), "a value of the wrong kind"),
        (lambda: int(float("inf")), "a number that is too large"),
        (lambda: b"\xff".decode(), "no UTF-8"),
    ):
        with pytest.raises(
            (LookupError, TypeError, ValueError, ArithmeticError, AttributeError)
        ) as raised:
            wrong()
        assert in_words(raised.value) == told
    assert in_words(ValueError("ids that do not count from 0")) == "ids that do not count from 0"
