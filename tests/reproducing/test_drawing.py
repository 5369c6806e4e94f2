"""Charts are valid, within their frame, and labels keep out of each other."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from assent.reproducing.drawing import HEIGHT, LINE_HEIGHT, WIDTH, Chart, _ticks

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("span", "ticks"),
    [
        ((0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1]),
        ((-14, 6), [-10, -5, 0, 5]),
        ((0.21, 0.23), [0.21, 0.215, 0.22, 0.225, 0.23]),
    ],
)
def test_ticks_are_round_numbers_within_the_span(span, ticks):
    assert _ticks(*span) == pytest.approx(ticks)


def test_what_lies_outside_is_drawn_at_the_edge_and_words_are_escaped():
    chart = Chart("a < b & c", ("x", 0, 1), ("y", 0, 1))
    chart.dot((7, -3), "#000000", "<dot>")
    chart.line([(0, 0), (1, 2)], "#000000", "line")
    root = ElementTree.fromstring(chart.svg())
    for dot in root.iter(f"{SVG}circle"):
        assert 0 <= float(dot.get("cx")) <= WIDTH and 0 <= float(dot.get("cy")) <= HEIGHT
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert {"a < b & c", "<dot>", "line"} <= set(words)


def test_labels_of_dots_at_one_place_stand_below_each_other():
    chart = Chart("", ("x", 0, 1), ("y", 0, 1))
    together = ("one", "two", "three")
    for words in together:
        chart.dot((0.5, 0.5), "#000000", words)
    texts = ElementTree.fromstring(chart.svg()).iter(f"{SVG}text")
    heights = sorted(float(text.get("y")) for text in texts if text.text in together)
    assert all(below - above >= LINE_HEIGHT for above, below in pairwise(heights))
