"""Names from users' graphs as they may be shown: no letter hides others, or commands a terminal."""

import re
import unicodedata
from typing import Any

JOINERS = "\u200c\u200d"  # several scripts need them
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, changes of direction, line breaks
LONGEST = 200  # letters of what an error of others says
# What Python says where a document has a list for a number, or a text for a list.
PYTHONS = re.compile(
    r"'[A-Za-z]+' object|object is not|object has no|indices must be|invalid literal|convert|"
    r"unhashable|must be (a|an|str|real|int)|not supported between|argument|values to unpack|"
    r"not in list|out of (range|bounds)|operand|has no len|base 10|ordinal not in"
)
WORDS: dict[type[Exception], str] = {
    OverflowError: "a number that is too large",
    RecursionError: "nested too deeply",
    UnicodeDecodeError: "no UTF-8",
}


def legible(text: str, kept: str = "") -> str:
    """The text with characters that show nothing themselves by their numbers, but for those kept.

    A name may have an escape that recolours a terminal, or a mark that turns the text around.
    """
    return "".join(
        f"⟨U+{ord(letter):04X}⟩"
        if unicodedata.category(letter) in HIDDEN and letter not in JOINERS + kept
        else letter
        for letter in text
    )


def legibly(value: Any) -> Any:
    """Plain data, of which a page or a chart is drawn, with all its texts legible.

    What a template has escaped already is no plain text any more, and stays.
    """
    if type(value) is str:
        return legible(value, kept="\n")
    if isinstance(value, dict):
        return {legibly(name): legibly(one) for name, one in value.items()}
    return [legibly(one) for one in value] if isinstance(value, list | tuple) else value


def first_line(error: BaseException) -> str:
    """What an error says, in one line that is not too long; its kind where it says nothing."""
    said = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return legible(said if len(said) <= LONGEST else f"{said[:LONGEST]} …")


def in_words(error: Exception) -> str:
    """What is wrong with a document, by the error that reading it raised: a part of a sentence."""
    if isinstance(error, KeyError) and error.args:
        name = str(error.args[0])
        return f"{legible(name if len(name) < 60 else name[:60] + ' …')!r} is missing"
    if (said := WORDS.get(type(error))) is not None:
        return said
    if isinstance(error, TypeError | AttributeError | IndexError) or PYTHONS.search(str(error)):
        return "a value of the wrong kind"
    return first_line(error)
