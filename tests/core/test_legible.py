"""What a name may do to the place where it is shown."""

from assent.core.legible import legible


def test_characters_that_hide_are_shown_by_their_numbers():
    assert legible("a\x1b[31mb\u202ec") == "a⟨U+001B⟩[31mb⟨U+202E⟩c"
    assert legible("one\ntwo") == "one⟨U+000A⟩two" and legible("one\ntwo", "\n") == "one\ntwo"


def test_scripts_that_need_joiners_keep_them():
    assert legible("a\u200cb, Čeština, 日本") == "a\u200cb, Čeština, 日本"
