"""A chart as data, and what all charts share: colours, axes, legends."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from assent.reporting.drawing import alt

Spec = dict[str, Any]  # Vega-Lite
Rows = list[dict[str, Any]]

# Colours that most colour-blind people tell apart (Okabe and Ito), on white and on black.
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
# Where the colours come round again, lines and dots differ by these.
DASHES = ([1, 0], [6, 3], [2, 3])
SHAPES = ("circle", "square", "triangle-up")
GREY = "#999999"
LETTER, SYMBOL = 7.5, 44  # pixels: of a letter in a legend, at most; of a mark and the room by it
LONGEST_NAME = 240  # pixels of a name in a legend
HEIGHT, SQUARE = 260, 380  # pixels


class Chart(NamedTuple):
    """A drawing, and what a reader should look for in it."""

    name: str
    title: str
    caption: str
    spec: Spec


def colour(place: int) -> str:
    """That of the first, second, ... run; they come round again."""
    return COLOURS[place % len(COLOURS)]


def shape(place: int) -> str:
    """The form of the dots of the first, second, ... run, which changes with each round."""
    return SHAPES[place // len(COLOURS) % len(SHAPES)]


def dash(place: int) -> list[int]:
    """How the line of the first, second, ... run is broken; this too changes with each round."""
    return DASHES[place // len(COLOURS) % len(DASHES)]


LOOKS: Mapping[str, tuple[type[Any], Callable[[int], Any]]] = {
    "color": (alt.Color, colour),
    "shape": (alt.Shape, shape),
    "strokeDash": (alt.StrokeDash, dash),
}


def chart_of(rows: Rows) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows))


def dots_of(rows: Rows, size: int, **encoding: Any) -> list[alt.Chart]:
    """Full dots, and hollow ones where a row says so."""
    full, hollow = ([row for row in rows if row["hollow"] is kind] for kind in (False, True))
    look: dict[str, Any] = {"size": size, "opacity": 1}
    marks = [
        chart_of(full).mark_point(filled=True, **look),
        chart_of(hollow).mark_point(fill="#ffffff", strokeWidth=1.6, **look),
    ]
    drawn = zip(marks, (full, hollow), strict=True)
    return [mark.encode(**encoding) for mark, mine in drawn if mine]


def unit_axis(axis: type[Any], field: str, title: str = "") -> Any:
    """An axis from 0 to 1."""
    ticks = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f")
    return axis(f"{field}:Q", title=title or field, scale=alt.Scale(domain=[0, 1]), axis=ticks)


def scale_of(span: tuple[float, float]) -> alt.Scale:
    return alt.Scale(domain=[rounded(end) for end in span], nice=False)


def span_of(values: Sequence[float]) -> tuple[float, float]:
    """A little more than the values take."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = 0.08 * (high - low) or 0.05
    return max(low - room, 0.0), high + room


def by_run(
    runs: Collection[str], *channels: str, legend: bool = True, **look: Any
) -> dict[str, Any]:
    """The runs' own looks in these channels of `LOOKS`; one legend where there are several runs."""
    found = {}
    for channel in channels:
        kind, look_at = LOOKS[channel]
        scale = alt.Scale(domain=list(runs), range=[look_at(place) for place in range(len(runs))])
        found[channel] = kind("run:N", scale=scale, legend=_legend(runs, look) if legend else None)
    return found


def _legend(runs: Collection[str], look: Mapping[str, Any]) -> alt.Legend | None:
    """Above the chart, with as many columns as there is room for; none of but one run."""
    if len(runs) <= 1:
        return None
    widest = min(LETTER * max(map(len, runs)), LONGEST_NAME) + SYMBOL
    columns = alt.ExprRef(f"clamp(floor(width / {widest:.0f}), 1, {len(runs)})")
    return alt.Legend(orient="top", title=None, columns=columns, columnPadding=20, **look)


def finished(name: str, title: str, caption: str, chart: Any, height: float = HEIGHT) -> Chart:
    drawn = chart.properties(width="container", height=height, description=title)
    return Chart(name, title, caption, drawn.configure(**CONFIG).to_dict())


def rounded(value: float) -> float:
    return float(f"{value:.5g}")


CONFIG: Mapping[str, Any] = {
    "background": "#ffffff",
    "font": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "#555555",
        "titleColor": "#333333",
        "titleFontWeight": "normal",
        "gridColor": "#e8e8e8",
        "domainColor": "#aaaaaa",
        "tickColor": "#aaaaaa",
        "labelFontSize": 11,
        "titleFontSize": 12,
        "labelLimit": 130,
    },
    "legend": {"labelColor": "#333333", "labelFontSize": 12, "labelLimit": LONGEST_NAME},
}
