"""Tables as a page shows them: what is read, and the number behind it, to sort by."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from assent.reporting.results import DASH, share

LONGEST = 160  # letters of a name: names come from users' graphs


class Cell(NamedTuple):
    text: str
    value: float | None = None  # None: words, or nothing to show
    note: str = ""  # in small print
    style: str = ""


class Grid(NamedTuple):
    """A table; the first row of cells stands under the first of the headings."""

    name: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    text_columns: Sequence[int] = (0,)  # all others hold numbers
    sortable: bool = False


def words(text: object, style: str = "", note: str = "") -> Cell:
    """A name, or any other text."""
    return Cell(clipped(str(text)), note=note, style=style)


def count(number: float, note: str = "") -> Cell:
    return Cell(f"{int(number):,}", int(number), note)


def part(value: float | None, span: Sequence[float | None] | None = None) -> Cell:
    """A share of 1, with its interval; a dash where nothing was to divide."""
    if value is None or math.isnan(value):
        return Cell(DASH)
    known = span is not None and all(end is not None for end in span)
    note = " to ".join(share(end or 0.0) for end in span or ()) if known else ""
    return Cell(share(value), value, note)


def chance(value: float) -> Cell:
    """A probability, which may be tiny."""
    return Cell("< .001" if 0 < value < 0.0005 else share(value), value)


def clipped(text: str) -> str:
    """Long names are cut."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def percent(value: float) -> str:
    """`46.6 %`, which no line breaks."""
    return f"{100 * value:.1f}\u00a0%"
