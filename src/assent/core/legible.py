"""Names from users' graphs as they may be shown: no letter hides others, or commands a terminal."""

import unicodedata

JOINERS = "\u200c\u200d"  # several scripts need them
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, changes of direction, line breaks
LONGEST = 200  # letters of what an error of others says


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


def first_line(error: BaseException) -> str:
    """What an error says, in one line that is not too long; its kind where it says nothing."""
    said = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return legible(said if len(said) <= LONGEST else f"{said[:LONGEST]} …")
