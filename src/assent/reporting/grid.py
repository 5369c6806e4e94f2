"""Tables as data: a grid of cells, which `rendering` draws for the terminal and in Markdown.

The template of the report draws the same grids as HTML.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import NamedTuple, Self

import numpy as np
from scipy.special import expit

from assent.core.legible import legible
from assent.rules.words import plural

DASH = "\u2013"  # stands for what is not known or not defined
LONGEST = 160  # letters of a name: names come from users' graphs
MEASURES = {"f1": "F1", "mrr": "MRR", "dev-loss": "minus the dev loss"}  # scores on valid


class Cell(NamedTuple):
    """What is read in one place of a table, and the number behind it."""

    text: str
    value: float | None = None  # to sort by; None: words, or nothing to show
    note: str = ""  # in small print
    style: str = ""  # what it means, as in `rendering.COLOURS`


class Column(NamedTuple):
    """A column of words or of numbers."""

    heading: str
    is_number: bool
    note: str = ""  # heads the notes of its cells, where these need a column of their own


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: each row has a cell for each column."""

    name: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()  # sentences that stand below it
    sortable: bool = False  # where it can be clicked

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"{self.name}: a row has not {len(self.columns)} cells")

    def __str__(self) -> str:
        """The table in Markdown."""
        from assent.reporting.rendering import markdown

        return markdown(self)

    def _repr_html_(self) -> str:
        """The table as a notebook shows it; names come from users' graphs, and are no markup."""
        head = "".join(f"<th>{_html(column.heading)}</th>" for column in self.columns)
        lines = [
            "".join(
                f'<td style="text-align: {"right" if column.is_number else "left"}">'
                + _html(cell.text)
                + (f" <small>{_html(cell.note)}</small></td>" if cell.note else "</td>")
                for column, cell in zip(self.columns, row, strict=True)
            )
            for row in self.rows
        ]
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        notes = "".join(f"<p>{_html(note)}</p>" for note in self.notes)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    def without(self, heading: str) -> Self:
        """The same without the columns under this heading."""
        kept = [place for place, column in enumerate(self.columns) if column.heading != heading]
        return replace(
            self,
            columns=[self.columns[place] for place in kept],
            rows=[[row[place] for place in kept] for row in self.rows],
        )


def _html(text: str) -> str:
    return escape(legible(text))


def texts(*headings: str) -> list[Column]:
    """Columns of words."""
    return [Column(heading, is_number=False) for heading in headings]


def numbers(*headings: str) -> list[Column]:
    """Columns of numbers."""
    return [Column(heading, is_number=True) for heading in headings]


def words(text: object, style: str = "") -> Cell:
    """A name, or any other text."""
    return Cell(clipped(str(text)), style=style)


def count(number: float, style: str = "") -> Cell:
    return Cell(f"{int(number):,}", int(number), style=style)


def decimal(value: float, places: int = 2) -> Cell:
    """A number that is no share of 1."""
    return Cell(DASH) if math.isnan(value) else Cell(f"{value:.{places}f}", value)


def share(value: float, interval: Sequence[float] = ()) -> Cell:
    """A share of 1, with its interval as a note; a dash where there was nothing to divide."""
    if math.isnan(value):
        return Cell(DASH)
    known = interval and not np.isnan(interval).any()
    return Cell(digits(value), value, " to ".join(map(digits, interval)) if known else "")


def probability(value: float) -> Cell:
    """A probability; no candidate is certain, and hardly any impossible."""
    return Cell(probability_text(value), value)


def probability_text(value: float, places: int = 3) -> str:
    """A probability in digits; what would round to 1 or to .000 is `> .999` or `< .001`."""
    step = 10.0**-places
    if value > 1 - step / 2:
        return f"> {digits(1 - step, places)}"
    return f"< {digits(step, places)}" if 0 < value < step / 2 else digits(value, places)


def threshold(logit: float) -> Cell:
    """A threshold, as the probability that it stands for."""
    return Cell("accepts nothing", 1.0) if logit == math.inf else probability(float(expit(logit)))


def digits(value: float | None, places: int = 3) -> str:
    """A share of 1 as the paper writes it, without the zero: `.334`."""
    if value is None or math.isnan(value):
        return DASH
    written = f"{abs(value):.{places}f}".removeprefix("0")
    return f"-{written}" if value < 0 else written


def percent(value: float, places: int = 1) -> str:
    """`46.6 %`, which no line breaks."""
    return f"{100 * value:.{places}f}\u00a0%"


def at_least(value: float) -> str:
    """`70 %` of .709: a bound from below is never rounded up, and never certain."""
    return f"{min(math.floor(100 * value + 1e-9), 99)}\u00a0%"


def measure_name(stop_on: str) -> str:
    """What a training is measured by on valid, as people write it: `F1` of `f1`."""
    return MEASURES.get(stop_on, stop_on)


def setting_name(name: str) -> str:
    """`learning rate` of `train.learning_rate`."""
    return name.rpartition(".")[2].replace("_", " ")


def setting_value(value: object) -> str:
    """The value of a setting, spelt as `--set` takes it: `true` of True."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def counted(number: int, thing: str) -> str:
    """`1 fact`, `2,000 facts`, `3 queries`."""
    return f"{number:,} {thing if number == 1 else plural(thing)}"


def clipped(text: str) -> str:
    """The start of a long name."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
