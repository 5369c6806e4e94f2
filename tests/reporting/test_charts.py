"""Charts: labels keep out of each other, and what is not defined is not drawn."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.measuring.separation import EDGES, GROUPS
from assent.reporting.chart import COLOURS, SQUARE, by_run, span_of
from assent.reporting.charts import (
    LABEL_HEIGHT,
    LETTER_WIDTH,
    NARROWEST,
    Dot,
    by_epoch,
    label_heights,
    mrr_and_f1,
    separation,
)
from assent.reporting.parallel import parallel
from assent.reporting.rendering import SVG_WIDTH, svg

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


@pytest.mark.parametrize("channel", ["shape", "strokeDash"])
def test_more_runs_than_colours_differ_by_their_shapes_and_dashes(channel):
    runs = [f"run {n}" for n in range(3 * len(COLOURS))]
    channels = by_run(runs, "color", channel).values()
    looks = zip(*(of.to_dict()["scale"]["range"] for of in channels), strict=True)
    assert len({str(look) for look in looks}) == len(runs) == 24


def test_a_legend_has_no_more_columns_than_there_is_room_for():
    runs = {f"the run number {n:02}": [(1, 0.5), (2, 0.25)] for n in range(12)}
    drawn = ElementTree.fromstring(svg(by_epoch("loss", "loss", "", runs)))
    found = {text: place for text, place in texts_of(drawn) if text in runs}
    assert len(found) == len(runs)
    columns = sorted({round(x) for x, _ in found.values()})
    assert 1 < len(columns) < 12
    apart = [high - low for low, high in pairwise([*columns, SVG_WIDTH + 50])]
    assert min(apart) > LETTER_WIDTH * len("the run number 00")


def texts_of(element, x=0.0, y=0.0):
    """Each text of an SVG, and where it begins."""
    moved = re.match(r"translate\(([-\d.]+),([-\d.]+)\)", element.get("transform", ""))
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    if element.text and element.tag.endswith("}text"):
        yield element.text, (x, y)
    for inner in element:
        yield from texts_of(inner, x, y)


def test_numbers_of_trainings_stand_beside_the_lines():
    trainings = [
        (0.2, "done", {"train.learning_rate": 0.1, "model.dim": 64, "model.on": True}),
        (0.1, "ended early", {"train.learning_rate": 0.01, "model.dim": 64, "model.on": False}),
    ]
    logarithmic = {"train.learning_rate": True, "model.dim": False, "model.on": False}
    chart = parallel(trainings, logarithmic, "F1", ("done", "ended early"))
    drawn = ElementTree.fromstring(svg(chart))
    said = [text for text, _ in texts_of(drawn)]
    note = "All have dim 64."
    assert not [x for x in said if "." in x and not x.startswith("0.") and x != note]
    assert [each.text for each in drawn.iter()].count("(log)") == 1
    assert {"on", "F1", "done", "ended early", "true", "false"} <= set(said)
    assert "dim" not in said and note in said
    (lines,) = [layer for layer in chart.spec["layer"] if layer["mark"]["type"] == "line"]
    scales = [lines["encoding"][of]["scale"] for of in ("strokeDash", "strokeWidth")]
    assert all(scale["domain"] == ["done", "ended early"] for scale in scales)
    assert all(solid != broken for solid, broken in (scale["range"] for scale in scales))
    low, high = (layer["mark"]["dy"] for layer in chart.spec["layer"][1:3])
    assert high < 0 < low


def test_trainings_that_have_the_same_settings_keep_their_axes():
    trainings = [(0.2, "done", {"model.dim": 64, "model.on": True})]
    chart = parallel(trainings, {"model.dim": False, "model.on": False}, "F1", ("done", "early"))
    said = [text for text, _ in texts_of(ElementTree.fromstring(svg(chart)))]
    assert {"dim", "64", "on", "true"} <= set(said)


def test_trainings_that_differ_in_one_setting_are_dots_on_its_axis():
    trainings = [(size / 1000, "done", {"model.dim": size}) for size in (64, 128)]
    chart = parallel(trainings, {"model.dim": False}, "F1", ("done", "ended early"))
    drawn = ElementTree.fromstring(svg(chart))
    dots = [each for each in drawn.iter() if each.get("aria-roledescription") == "point"]
    assert len(dots) == len(trainings)


def test_without_a_threshold_no_line_is_drawn():
    shares = {group: np.full(len(EDGES) - 1, 0.1) for group in GROUPS}
    lines = [separation("s", "", "", shares, line) for line in (None, -2.5)]
    assert [rows_of(chart, 1) for chart in lines] == [[], [{"x": -2.5, "words": ""}]]
