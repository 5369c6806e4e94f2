"""One grid, drawn three ways: nothing in a name can become markup in any of them."""

import io
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from assent.core.legible import legible
from assent.reporting.charts import Dot, mrr_and_f1
from assent.reporting.grid import Cell, Column, Grid, count, numbers, share, texts, words
from assent.reporting.rendering import escaped, markdown, svg, terminal

HIDING = ("\u202e evil", "\b\x1b[31m", "a\x00\x07\x85")
HOSTILE = ("[red]a[/red]", "a|b", "**a**", "`a`", "<b>a</b>", "[a](b)", "a\\|b")


def printed(grid, width=120):
    console = Console(file=io.StringIO(), width=width, color_system="truecolor", emoji=False)
    console.print(terminal(grid))
    return console.file.getvalue()


def plain(grid, width=120):
    console = Console(file=io.StringIO(), width=width, emoji=False)
    console.print(terminal(grid))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def cells(table):
    """The cells of a table in Markdown; a bar after a backslash ends none."""
    rows = []
    for line in table.splitlines():
        parts, cell, after = [], "", False
        for letter in line[2:-2]:
            if letter == "|" and not after:
                parts.append(cell.strip())
                cell = ""
                continue
            after = letter == "\\" and not after
            cell += letter
        rows.append([*parts, cell.strip()])
    return rows


def test_numbers_stand_to_the_right_and_words_to_the_left():
    grid = Grid("g", [*texts("name"), *numbers("size")], [[words("a"), count(1234)]])
    assert plain(grid) == ["name   size", "a     1,234"]


def test_a_style_is_a_colour_in_the_terminal_and_markup_in_markdown():
    grid = Grid(
        "g", texts("a", "b", "c"), [[Cell("x", style=s) for s in ("wrong", "answer", "known")]]
    )
    assert "\x1b[31mx" in printed(grid)
    assert markdown(grid).splitlines()[-1] == "| x | **x** | *x* |"


def test_a_note_with_a_heading_has_a_column_of_its_own_and_others_are_for_pages_only():
    columns = [Column("F1", True, "95 %"), Column("recall", True)]
    rows = [[share(0.5, (0.4, 0.6)), share(0.3, (0.2, 0.4))], [share(0.5), share(float("nan"))]]
    table = cells(markdown(Grid("g", columns, rows)))
    assert table[0] == ["F1", "95 %", "recall"]
    assert table[2:] == [[".500", ".400 to .600", ".300"], [".500", "\u2013", "\u2013"]]
    assert plain(Grid("g", columns, rows))[1].split() == [".500", ".400", "to", ".600", ".300"]


def test_notes_of_a_grid_stand_below_it():
    grid = Grid("g", texts("a"), [[words("x")]], ["Only one."])
    assert plain(grid)[-1] == "Only one." and markdown(grid).endswith("\n\nOnly one.")


def test_a_long_name_is_folded_never_left_out():
    grid = Grid("g", texts("a"), [[Cell("x" * 30)]])
    assert "".join(plain(grid, width=10)[1:]) == "x" * 30


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_shown_as_they_are(name):
    grid = Grid("g", texts("a", "b"), [[words(name), words("z")]])
    assert plain(grid)[1].split() == [name, "z"]
    assert cells(markdown(grid))[2] == [escaped(name), "z"]


@given(st.text(max_size=20))
def test_a_cell_of_markdown_never_ends_a_row(name):
    lines = markdown(Grid("g", texts("a"), [[Cell(name)]])).split("\n")
    assert len(lines) == 3 and len(cells("\n".join(lines))[2]) == 1


def test_a_row_must_have_a_cell_for_each_column():
    with pytest.raises(ValueError, match="a row has not 2 cells"):
        Grid("g", texts("a", "b"), [[words("x")]])


def test_a_column_can_be_left_out_by_its_heading():
    grid = Grid("g", texts("a", "b"), [[words("x"), words("y")]]).without("a")
    assert [column.heading for column in grid.columns] == ["b"]
    assert [[cell.text for cell in row] for row in grid.rows] == [["y"]]


def test_a_chart_is_an_svg_with_its_title_and_its_words_escaped():
    runs = {"<dot> & co": [Dot(0.3, 0.4)]}
    root = ElementTree.fromstring(svg(mrr_and_f1("name", "a < b & c", "", runs)))
    shown = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a < b & c", "<dot> & co"} <= set(shown)


@pytest.mark.parametrize("name", HIDING)
@pytest.mark.parametrize("style", ["", "code"])
def test_markdown_spells_letters_that_show_nothing_themselves(name, style):
    shown = markdown(Grid("g", texts(name), [[words(name, style)]], [name]))
    assert shown == legible(shown, kept="\n") and shown.count("⟨U+") >= 3
