"""Colours that most colour-blind people tell apart (Okabe and Ito), on white and on black."""

COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#cc79a7",
    "#56b4e9",
    "#8c6d00",
    "#888888",
)


def colour(place: int) -> str:
    """That of the first, second, ... run; they come round again."""
    return COLOURS[place % len(COLOURS)]
