"""The figures of the report as Vega-Lite, from plain numbers."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from assent.core.counts import f1, precision, recall
from assent.measuring.calibration import Calibration
from assent.measuring.separation import EDGES, GROUPS
from assent.reporting.colours import colour
from assent.reporting.results import SET_NAMES
from assent.reporting.subject import Subject

Spec = dict[str, Any]
Rows = list[dict[str, Any]]

ANSWERED = ("full", "C", "C+F", "I")  # the sets that precision and recall are about
LEVELS = (0.2, 0.4, 0.6, 0.8)  # of F1, as faint lines
SPANS = ("value", "low", "high")
GREY = "#999999"
AS_SCORED, CALIBRATED = "as scored", "calibrated"
GROUP_COLOURS = ("#009e73", GREY, "#e69f00", "#cc79a7")
HEIGHT = 260


def training(subjects: Sequence[Subject], event: str, field: str, title: str) -> Spec:
    """A number of each epoch, run by run."""
    rows = [
        {"run": subject.name, "epoch": line["epoch"], field: _round(line[field])}
        for subject in subjects
        for line in subject.events
        if line.get("event") == event and all(_is_number(line.get(k)) for k in ("epoch", field))
    ]
    marks = _chart(rows).mark_line(point={"size": 18}, strokeWidth=1.8)
    drawn = marks.encode(
        x=alt.X("epoch:Q", title="epoch", axis=alt.Axis(tickMinStep=1, tickCount=8)),
        y=alt.Y(f"{field}:Q", title=title),
        color=_by_run(subjects),
        tooltip=["run:N", "epoch:Q", alt.Tooltip(f"{field}:Q", title=title, format=".4g")],
    )
    return _finished(drawn, f"{title} by epoch")


def by_subset(subjects: Sequence[Subject], metric: str) -> Spec:
    """A dot with its interval for each subset and run."""
    rows = []
    for subject in subjects:
        for name in ANSWERED:
            of_set = subject.plain["classification"][name]
            low, high = of_set[f"{metric}_interval"]
            if of_set["relevant"] and of_set[metric] is not None and low is not None:
                spans = {"value": of_set[metric], "low": low, "high": high}
                rounded = {key: _round(value) for key, value in spans.items()}
                rows.append({"run": subject.name, "set": SET_NAMES[name], **rounded})
    title = {"f1": "F1"}.get(metric, metric)
    base = _chart(rows).encode(
        y=alt.Y("set:N", title=None, sort=[SET_NAMES[name] for name in ANSWERED]),
        yOffset=alt.YOffset("run:N", sort=[subject.name for subject in subjects]),
        color=_by_run(subjects),
        tooltip=["run:N", "set:N", *(alt.Tooltip(f"{n}:Q", format=".3f") for n in SPANS)],
    )
    spans = base.mark_rule(strokeWidth=2, opacity=0.6).encode(
        x=alt.X("low:Q", title=title, scale=alt.Scale(zero=True)), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x="value:Q")
    height = 40 + 34 * len(ANSWERED) * max(1.0, len(subjects) / 2)
    return _finished(alt.layer(spans, dots), f"{title} by subset, with 95 % intervals", height)


def mrr_and_f1(subjects: Sequence[Subject]) -> Spec:
    """Each run a dot."""
    rows = [
        {"run": s.name, "MRR": _round(s.found.mrr), "F1": _round(s.found.f1())}
        for s in subjects
        if not np.isnan([s.found.mrr, s.found.f1()]).any()
    ]
    scale, ticks = alt.Scale(zero=False, padding=24), alt.Axis(tickCount=6)
    dots = _chart(rows).encode(
        x=alt.X("MRR:Q", scale=scale, axis=ticks, title="MRR"),
        y=alt.Y("F1:Q", scale=scale, axis=ticks, title="F1, all queries"),
        tooltip=["run:N", "MRR:Q", "F1:Q"],
    )
    marks = dots.mark_point(filled=True, size=110, opacity=1).encode(color=_by_run(subjects))
    names = dots.mark_text(dy=-12, color=GREY).encode(text="run:N")
    return _finished(alt.layer(marks, names), "MRR beside F1")


def curves(subjects: Sequence[Subject]) -> Spec:
    """Precision at every recall as one threshold falls, and where each run stops."""
    points, stops = [], []
    for subject in subjects:
        pairs = zip(recall(subject.curve), precision(subject.curve), strict=True)
        found = [{"recall": _round(r), "precision": _round(p)} for r, p in pairs]
        points += [{"run": subject.name, **point} for point in found]
        counts = subject.found.classified.of("full")
        reached = {"recall": recall(counts), "precision": precision(counts), "F1": f1(counts)}
        if counts.accepted and counts.relevant:
            rounded = {key: _round(value) for key, value in reached.items()}
            stops.append({"run": subject.name, **rounded, "accepted": counts.accepted})
    drawn = _in_plane(points).mark_line(strokeWidth=1.8)
    tips = [*map(alt.Tooltip, ("run:N", "recall:Q", "precision:Q", "F1:Q", "accepted:Q"))]
    dots = _in_plane(stops).mark_point(filled=True, size=120, opacity=1)
    marks = (
        *_levels(),
        drawn.encode(color=_by_run(subjects), order="recall:Q"),
        dots.encode(color=_by_run(subjects), tooltip=tips),
    )
    return _finished(alt.layer(*marks), "Precision and recall", 380)


def _levels() -> Iterable[alt.Chart]:
    """Where F1 is the same: recall r and precision f r / (2 r - f)."""
    rows = [
        {"f": level, "recall": _round(r), "precision": _round(level * r / (2 * r - level))}
        for level in LEVELS
        for r in np.geomspace(level / (2 - level), 1, 60)
    ]
    lines = _in_plane(rows).mark_line(color=GREY, opacity=0.45, strokeWidth=1, strokeDash=[3, 4])
    yield lines.encode(detail="f:N", order="recall:Q")
    ends = [{**row, "words": f"F1 = {row['f']}"} for row in rows if row["recall"] == 1]
    words = _in_plane(ends).mark_text(align="right", dy=-6, fontSize=10, color=GREY)
    yield words.encode(text="words:N")


def separation(subject: Subject) -> Spec:
    """How the scores of each group lie, and the threshold."""
    shares, line = subject.separation.shares(), subject.line
    rows = [
        {"of": name, "score": float(edge), "share": _round(share)}
        for name, of_group in shares.items()
        for edge, share in zip(EDGES, np.append(of_group, of_group[-1]), strict=True)
    ]
    # The outermost bins hold all that lies beyond: they may stand out of the picture.
    highest = max(of_group[1:-1].max() for of_group in shares.values()) or 1.0
    height = alt.Scale(domain=[0, _round(1.1 * highest)], nice=False)
    shifted = subject.separation.thresholds is not None
    title = "score, counted from its relation's threshold" if shifted else "score (logit)"
    areas = _chart(rows).mark_area(
        interpolate="step-after", fillOpacity=0.16, line={"strokeWidth": 1.6}, clip=True
    )
    scale = alt.Scale(domain=list(GROUPS), range=list(GROUP_COLOURS))
    legend = alt.Legend(orient="top", columns=2)
    drawn = areas.encode(
        x=alt.X("score:Q", title=title, scale=alt.Scale(nice=False)),
        y=alt.Y("share:Q", title="share of the group", stack=None, scale=height),
        color=alt.Color("of:N", scale=scale, title=None, legend=legend),
    )
    words = "looked at by the judge" if subject.judged else "accepted"
    where = _chart([{"x": _round(line), "words": words}] if line is not None else [])
    rule = where.mark_rule(strokeDash=[5, 4], strokeWidth=1.6, color="#777777").encode(x="x:Q")
    label = where.mark_text(align="left", dx=5, fontSize=11, color="#777777")
    named = label.encode(x="x:Q", y=alt.value(8), text="words:N")
    return _finished(
        alt.layer(drawn, rule, named, _told(shares)), f"Scores on test, {subject.name}"
    )


def _told(shares: Mapping[str, NDArray[np.float64]]) -> alt.Chart:
    """Nothing to see: the places of the bins, which tell the shares of all groups."""
    rows = [
        {"from": float(low), "to": float(high)}
        | {name: _round(of_group[place]) for name, of_group in shares.items()}
        for place, (low, high) in enumerate(pairwise(EDGES))
    ]
    tips = [alt.Tooltip(f"{name}:Q", format=".2%") for name in shares]
    bars = _chart(rows).encode(x="from:Q", x2="to:Q", tooltip=["from:Q", *tips])
    whole: alt.Chart = bars.encode(y=alt.value(0), y2=alt.value(HEIGHT)).mark_bar(opacity=0)
    return whole


def reliability(subjects: Sequence[Subject]) -> Spec:
    """What probabilities say, and what is true: as scored, and as calibrated on valid."""
    rows = [
        {"run": subject.name, "probabilities": kind, **point}
        for subject in subjects
        for kind, calibration in (
            (AS_SCORED, subject.found.calibration),
            (CALIBRATED, subject.found.calibrated),
        )
        if calibration is not None
        for point in _reliable(calibration)
    ]
    axes = {
        "x": _unit(alt.X, "stated", "probability that is stated"),
        "y": _unit(alt.Y, "true", "share that is right"),
    }
    ends = [{"stated": end, "true": end} for end in (0, 1)]
    dashed = _chart(ends).mark_line(color=GREY, opacity=0.6, strokeDash=[3, 4], strokeWidth=1)
    tips = [*map(alt.Tooltip, ("run:N", "probabilities:N", "stated:Q", "true:Q", "candidates:Q"))]
    kinds = alt.Scale(domain=[CALIBRATED, AS_SCORED], range=[[1, 0], [2, 3]])
    dashes = alt.StrokeDash("probabilities:N", scale=kinds, legend=None)
    base = _chart(rows).encode(**axes, color=_by_run(subjects), tooltip=tips)
    lines = base.mark_line(strokeWidth=1.4).encode(strokeDash=dashes)
    dots = base.mark_point(filled=True, size=45, opacity=1).encode(
        detail=alt.Detail("probabilities:N")
    )
    marks = (dashed.encode(**axes), lines, dots)
    return _finished(alt.layer(*marks), "Are probabilities what they say?", 380)


def _reliable(calibration: Calibration) -> Rows:
    """A point for each bin that has candidates."""
    sizes = calibration.candidates.sum(0)
    return [
        {"stated": _round(stated), "true": _round(true), "candidates": int(size)}
        for stated, true, size in zip(*calibration.reliability(), sizes, strict=True)
        if size
    ]


def _chart(rows: Rows) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows))


def _unit(axis: type[Any], field: str, title: str = "") -> Any:
    """An axis from 0 to 1."""
    ticks = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f")
    scale = alt.Scale(domain=[0, 1])
    return axis(f"{field}:Q", title=title or field, scale=scale, axis=ticks)


def _in_plane(rows: Rows) -> alt.Chart:
    """Of recall and precision."""
    return _chart(rows).encode(x=_unit(alt.X, "recall"), y=_unit(alt.Y, "precision"))


def _by_run(subjects: Sequence[Subject]) -> alt.Color:
    """The runs' own colours; a legend where there are several."""
    names = [subject.name for subject in subjects]
    scale = alt.Scale(domain=names, range=[colour(place) for place in range(len(names))])
    legend = alt.Legend(orient="top", title=None) if len(names) > 1 else None
    return alt.Color("run:N", scale=scale, legend=legend)


def _finished(chart: Any, description: str, height: float = HEIGHT) -> Spec:
    drawn = chart.properties(width="container", height=height, description=description)
    spec: Spec = drawn.configure(**CONFIG).to_dict()
    return spec


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and np.isfinite(value)


def _round(value: float) -> float:
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
    "legend": {"labelColor": "#333333", "labelFontSize": 12, "labelLimit": 240},
}
