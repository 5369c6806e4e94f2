"""Names from users' graphs as they may be shown: no letter hides others, or commands a terminal."""

import unicodedata

JOINERS = "\u200c\u200d"  # several scripts need them
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, changes of direction, line breaks


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
