"""Draws grids for the terminal, in Markdown and as JSON, and charts as SVG."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assent.core.legible import legible, legibly
from assent.reporting.grid import DASH, Cell, Column, Grid

if TYPE_CHECKING:  # altair takes a third of a second, and cannot be imported everywhere
    from assent.reporting.chart import Chart

SVG_WIDTH = 640
# Pixels around a chart: letters are measured in one font here, and seen in another.
SVG_PADDING = {"left": 24, "right": 16, "top": 8, "bottom": 8}

# What a cell means -> how it looks. The style sheet of the report has the same names.
COLOURS = {"wrong": "red", "skewed": "yellow", "fine": "green", "right": "green"}
MARKUP = {"answer": "**", "known": "*", "code": "`"}


def terminal(grid: Grid) -> RenderableType:
    """A table without lines, its notes below it."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    columns, rows = _with_notes(grid)
    for column in columns:
        table.add_column(
            Text(column.heading),
            justify="right" if column.is_number else "left",
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(legible(cell.text), COLOURS.get(cell.style, "")) for cell in row))
    return Group(table, *map(Text, grid.notes)) if grid.notes else table


def markdown(grid: Grid) -> str:
    """A table with a line for each row, its notes in paragraphs below it."""
    columns, rows = _with_notes(grid)
    lines = [[escaped(column.heading) for column in columns], ["---"] * len(columns)]
    lines += [[_marked(cell) for cell in row] for row in rows]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return "\n\n".join([table, *map(escaped, grid.notes)])


def records(grid: Grid) -> list[dict[str, str | float | None]]:
    """The rows for JSON: heading -> number, words, or null where there is a dash."""
    columns, rows = _with_notes(grid)
    headings = [column.heading or grid.name for column in columns]
    return [dict(zip(headings, map(_plain, row), strict=True)) for row in rows]


def escaped(text: str) -> str:
    """Text for Markdown: names come from users' graphs, and must not end a cell or start markup."""
    text = legible(text.replace("\n", " "))
    return "".join(f"\\{c}" if c in "\\|`*_<>[]#" else c for c in text)


def svg(chart: "Chart") -> str:
    """A chart as a file of its own, with its title."""
    import vl_convert

    spec = {**chart.spec, "width": SVG_WIDTH, "title": chart.title, "padding": SVG_PADDING}
    drawn: str = vl_convert.vegalite_to_svg(legibly(spec))
    return drawn + "\n"


def _with_notes(grid: Grid) -> tuple[list[Column], Iterator[Sequence[Cell]]]:
    """Columns and rows; the notes that have a heading of their own stand in columns of their own.

    All other notes are left out: only a page has room for them.
    """
    columns = []
    for column in grid.columns:
        columns.append(column)
        if column.note:
            columns.append(Column(column.note, column.is_number))
    rows = (
        [
            shown
            for column, cell in zip(grid.columns, row, strict=True)
            for shown in ((cell, Cell(cell.note or DASH)) if column.note else (cell,))
        ]
        for row in grid.rows
    )
    return columns, rows


def _marked(cell: Cell) -> str:
    mark = MARKUP.get(cell.style, "")
    # Within backticks nothing else is markup.
    text = legible(cell.text) if mark == "`" else escaped(cell.text)
    return f"{mark}{text}{mark}" if text else ""


def _plain(cell: Cell) -> str | float | None:
    return None if cell.text == DASH else cell.text if cell.value is None else cell.value
