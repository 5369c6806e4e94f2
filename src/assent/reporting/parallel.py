"""The chart of a search: a line for each training, from setting to setting."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.reporting.chart import Chart, Rows, chart_of, finished, rounded
from assent.reporting.drawing import alt
from assent.reporting.grid import setting_name, setting_value

Values = NDArray[np.float64]
NOTE = 90  # letters in a line of the note


def parallel(
    rows: Sequence[tuple[float, str, Mapping[str, Any]]],  # score, state, settings
    logarithmic: Mapping[str, bool],
    measure: str,
    states: Sequence[str],  # the first one solid, the other dashed and thinner
) -> Chart:
    """Parallel coordinates: a line for each training, from setting to setting, by its score.

    What all trainings have is no axis, but stands in a note; unless they have everything.
    """
    lines: Rows = []
    marks: Rows = []
    of_all = {name: [settings[name] for *_, settings in rows] for name in logarithmic}
    varied = {name: values for name, values in of_all.items() if len(set(values)) > 1} or of_all
    headings = {
        name: setting_name(name) + (" (log)" if logarithmic[name] else "") for name in varied
    }
    for name, values in varied.items():
        places = _places(values, logarithmic[name])
        shown = headings[name]
        lines += [
            {"training": at, "state": state, "setting": shown, "place": rounded(height)}
            | {"score": rounded(score)}
            for at, ((score, state, _), height) in enumerate(zip(rows, places, strict=True))
        ]
        ends = {setting_value(value): at for value, at in zip(values, places, strict=True)}
        if not all(isinstance(value, str | bool) for value in values):
            numbers = sorted(zip(places, values, strict=True))
            ends = {f"{value:.3g}": at for at, value in (numbers[0], numbers[-1])}
        marks += [
            {"setting": shown, "place": rounded(at), "value": text} for text, at in ends.items()
        ]
    axis = alt.Axis(labelAngle=0, labelExpr="split(datum.label, ' ')", labelPadding=20, grid=True)
    same = [
        f"{setting_name(name)} {setting_value(values[0])}"
        for name, values in of_all.items()
        if name not in varied
    ]
    note = textwrap.wrap(f"All have {', '.join(same)}.", NOTE) if same else None
    x = alt.X("setting:N", sort=list(headings.values()), title=note, axis=axis)
    y = alt.Y("place:Q", title=None, axis=None)
    of_state: dict[str, Any] = {"domain": list(states)}
    drawn = (
        chart_of(lines)
        .mark_line(opacity=0.8, point=len(varied) == 1)  # between no two axes is a line
        .encode(
            x=x,
            y=y,
            detail="training:N",
            color=alt.Color("score:Q", scale=alt.Scale(scheme="viridis"), title=measure),
            strokeDash=alt.StrokeDash(
                "state:N", scale=alt.Scale(**of_state, range=[[1, 0], [4, 3]]), title="training"
            ),
            strokeWidth=alt.StrokeWidth(
                "state:N", scale=alt.Scale(**of_state, range=[2.2, 1]), title="training"
            ),
        )
    )
    title = "Trainings by their settings"
    caption = (
        f"Each line is a training; the brighter, the higher its {measure} on valid. Dashed: ended "
        "early."
    )
    return finished("search", title, caption, alt.layer(drawn, *_beside_lines(marks, x, y)))


def _beside_lines(marks: Rows, x: alt.X, y: alt.Y) -> Iterable[alt.Chart]:
    """The values at the axes: below and above the lines, or on white between them."""
    for end, dy in ((0, 12), (1, -9)):
        words = chart_of([row for row in marks if row["place"] == end])
        yield words.mark_text(dy=dy, fontSize=11).encode(x=x, y=y, text="value:N")
    words = chart_of([row for row in marks if 0 < row["place"] < 1])
    white = words.mark_text(fontSize=11, stroke="#ffffff", strokeWidth=5)
    for mark in (white, words.mark_text(fontSize=11)):
        yield mark.encode(x=x, y=y, text="value:N")


def _places(values: Sequence[Any], is_log: bool) -> Values:
    """Where values stand between the lowest (0) and the highest (1) of them."""
    if any(isinstance(value, str | bool) for value in values):
        kinds = sorted(set(map(setting_value, values)))
        numbers = np.array([kinds.index(setting_value(value)) for value in values], np.float64)
    else:
        numbers = np.array(values, np.float64)
        numbers = np.log(numbers) if is_log else numbers
    low, high = numbers.min(), numbers.max()
    return (numbers - low) / (high - low) if high > low else np.full(len(numbers), 0.5)
