"""Charts: labels keep out of each other, and what is not defined is not drawn."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.measuring.separation import EDGES, GROUPS
from assent.reporting.chart import COLOURS, SQUARE, span_of
from assent.reporting.charts import (
    LABEL_HEIGHT,
    LETTER_WIDTH,
    NARROWEST,
    Curve,
    Dot,
    label_heights,
    mrr_and_f1,
    precision_recall,
    separation,
)

UNIT = (0.0, 1.0)


def rows_of(chart, layer):
    return chart.spec["datasets"][chart.spec["layer"][layer]["data"]["name"]]


def test_labels_of_dots_at_one_place_stand_below_each_other():
    dots = [(name, Dot(0.5, 0.5)) for name in ("one", "two", "three")]
    heights = sorted(label_heights(dots, UNIT, UNIT).values())
    assert heights[-1] == 0.5
    assert all(high - low >= 0.99 * LABEL_HEIGHT / SQUARE for low, high in pairwise(heights))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=12))
def test_no_two_labels_touch(places):
    dots = [(f"model {place}", Dot(*where)) for place, where in enumerate(places)]
    found = list(label_heights(dots, UNIT, UNIT).items())
    for place, ((name, dot), height) in enumerate(found):
        for (other, at), below in found[:place]:
            wide = LETTER_WIDTH * max(len(name), len(other)) / NARROWEST
            apart = abs(height - below) >= 0.99 * LABEL_HEIGHT / SQUARE
            assert apart or abs(dot.x - at.x) >= wide


def test_a_span_is_a_little_wider_than_its_values():
    assert span_of([0.2, 0.3]) == pytest.approx((0.192, 0.308))
    assert span_of([0.5]) == pytest.approx((0.45, 0.55)) and span_of([])[0] == 0


def test_a_run_without_a_number_has_no_dot():
    runs = {"a": [Dot(0.3, 0.4), Dot(np.nan, 0.1, hollow=True)], "b": [Dot(0.2, np.nan)]}
    chart = mrr_and_f1("name", "title", "", runs)
    assert [row["run"] for layer in (0, 1) for row in rows_of(chart, layer)] == ["a", "a"]


def test_more_runs_than_colours_differ_by_their_dashes():
    points = np.array([0.1, 0.2])
    runs = {f"run {n}": Curve(points, points, [Dot(0.1, 0.2)]) for n in range(len(COLOURS) + 1)}
    chart = precision_recall("title", "", runs)
    (lines,) = [layer for layer in chart.spec["layer"] if "strokeDash" in layer["encoding"]]
    looks = zip(
        *(lines["encoding"][channel]["scale"]["range"] for channel in ("color", "strokeDash")),
        strict=True,
    )
    assert len({str(look) for look in looks}) == len(runs)


def test_without_a_threshold_no_line_is_drawn():
    shares = {group: np.full(len(EDGES) - 1, 0.1) for group in GROUPS}
    lines = [separation("s", "", "", shares, line) for line in (None, -2.5)]
    assert [rows_of(chart, 1) for chart in lines] == [[], [{"x": -2.5, "words": ""}]]
