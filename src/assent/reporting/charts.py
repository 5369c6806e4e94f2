"""Each chart of runs, from plain numbers: the report draws them, and so does the reproduction."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.core.counts import METRICS
from assent.core.queries import WITH_ANSWERS
from assent.measuring.calibration import Calibration
from assent.measuring.evaluation import Evaluation
from assent.measuring.separation import EDGES, GROUPS
from assent.reporting.chart import (
    GREY,
    HEIGHT,
    SQUARE,
    Chart,
    Rows,
    by_run,
    chart_of,
    dots_of,
    finished,
    rounded,
    scale_of,
    span_of,
    unit_axis,
)
from assent.reporting.decisions import SET_NAMES, metric_name
from assent.reporting.drawing import alt

Values = NDArray[np.float64]

GROUP_COLOURS = ("#009e73", GREY, "#e69f00", "#cc79a7")
F1_LEVELS = (0.2, 0.4, 0.6, 0.8)  # drawn as faint lines
AS_SCORED, CALIBRATED = "as scored", "calibrated"
LABEL_HEIGHT, LETTER_WIDTH = 14, 6.5  # pixels
STROKES: Mapping[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 2.5}  # in a legend
NARROWEST = 300  # pixels between the axes where labels must still keep apart


class Dot(NamedTuple):
    """A place in a plane; hollow ones have no label."""

    x: float
    y: float
    hollow: bool = False


class Curve(NamedTuple):
    """Precision at every recall as a threshold for all relations falls, and what was accepted."""

    recall: Values  # (point,)
    precision: Values  # (point,)
    accepted: Sequence[Dot]  # recall and precision of decisions


def by_epoch(
    name: str, measure: str, caption: str, runs: Mapping[str, Sequence[tuple[int, float]]]
) -> Chart:
    """A number of each epoch, run by run."""
    rows = [
        {"run": run, "epoch": epoch, "value": rounded(value)}
        for run, points in runs.items()
        for epoch, value in points
    ]
    marks = chart_of(rows).mark_line(point={"size": 18}, strokeWidth=1.8)
    drawn = marks.encode(
        x=alt.X("epoch:Q", title="epoch", axis=alt.Axis(tickMinStep=1, tickCount=8)),
        y=alt.Y("value:Q", title=measure),
        **by_run(runs, "color", "strokeDash", **STROKES),
        tooltip=["run:N", "epoch:Q", alt.Tooltip("value:Q", title=measure, format=".4g")],
    )
    return finished(name, f"{measure} by epoch", caption, drawn)


def by_subset(metric: str, caption: str, runs: Mapping[str, Evaluation]) -> Chart:
    """A metric with its interval, for each set of queries and each run."""
    rows = []
    for run, evaluation in runs.items():
        for of_set in WITH_ANSWERS:
            counts, (low, high) = (
                evaluation.classified.of(of_set),
                evaluation.intervals[of_set][metric],
            )
            values = {"value": float(METRICS[metric](counts)), "low": low, "high": high}
            if counts.relevant and not np.isnan([*values.values()]).any():
                ends = {key: rounded(value) for key, value in values.items()}
                rows.append({"run": run, "set": SET_NAMES[of_set], **ends})
    title = metric_name(metric)
    tips = [alt.Tooltip(f"{value}:Q", format=".3f") for value in ("value", "low", "high")]
    base = chart_of(rows).encode(
        y=alt.Y("set:N", title=None, sort=[SET_NAMES[of_set] for of_set in WITH_ANSWERS]),
        yOffset=alt.YOffset("run:N", sort=list(runs)),
        tooltip=["run:N", "set:N", *tips],
    )
    spans = base.mark_rule(strokeWidth=2, opacity=0.6).encode(
        x=alt.X("low:Q", title=title, scale=alt.Scale(zero=True)),
        x2="high:Q",
        **by_run(runs, "color"),
    )
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        x="value:Q", **by_run(runs, "color", "shape")
    )
    height = 40 + 34 * len(WITH_ANSWERS) * max(1.0, len(runs) / 2)
    title = f"{title} by subset, with 95 % intervals"
    return finished(f"{metric}-by-subset", title, caption, alt.layer(spans, dots), height)


def mrr_and_f1(name: str, title: str, caption: str, runs: Mapping[str, Sequence[Dot]]) -> Chart:
    """Ranking against deciding: each run a dot, or two, at its MRR and F1."""
    dots = [
        (run, dot)
        for run, mine in runs.items()
        for dot in mine
        if not np.isnan([dot.x, dot.y]).any()
    ]
    (left, right), y = (span_of([dot[axis] for _, dot in dots]) for axis in (0, 1))
    x = (left, right + 0.3 * (right - left))  # room for the label of the last dot
    labels = label_heights([(run, dot) for run, dot in dots if not dot.hollow], x, y)
    rows = [
        {"run": run, "MRR": rounded(dot.x), "F1": rounded(dot.y), "hollow": dot.hollow}
        for run, dot in dots
    ]
    words = [
        {"run": run, "MRR": rounded(dot.x), "label": label} for (run, dot), label in labels.items()
    ]
    axes: dict[str, Any] = {
        "x": alt.X("MRR:Q", scale=scale_of(x), axis=alt.Axis(tickCount=6), title="MRR"),
        "y": alt.Y("F1:Q", scale=scale_of(y), axis=alt.Axis(tickCount=6), title="F1, all queries"),
    }
    looks = by_run(runs, "color", "shape", legend=False)
    marks = dots_of(rows, 110, **axes, **looks, tooltip=["run:N", "MRR:Q", "F1:Q"])
    names = chart_of(words).mark_text(align="left", dx=9, fontSize=11)
    drawn = names.encode(
        x=axes["x"],
        y=alt.Y("label:Q", scale=scale_of(y), title="F1, all queries"),
        text="run:N",
        color=looks["color"],
    )
    return finished(name, title, caption, alt.layer(*marks, drawn), SQUARE)


def label_heights(
    dots: Sequence[tuple[str, Dot]], x: tuple[float, float], y: tuple[float, float]
) -> dict[tuple[str, Dot], float]:
    """Where labels stand, from the top down, each below those that it would touch."""
    step = (y[1] - y[0]) / SQUARE  # that one pixel stands for
    width = (x[1] - x[0]) / NARROWEST
    placed: dict[tuple[str, Dot], float] = {}
    for run, dot in sorted(dots, key=lambda one: -one[1].y):
        height = dot.y
        for (other, at), taken in sorted(placed.items(), key=lambda one: -one[1]):
            longest = LETTER_WIDTH * max(len(run), len(other)) * width
            if abs(at.x - dot.x) < longest and abs(taken - height) < LABEL_HEIGHT * step:
                height = taken - LABEL_HEIGHT * step
        placed[run, dot] = height
    return placed


def precision_recall(title: str, caption: str, runs: Mapping[str, Curve]) -> Chart:
    """Precision at every recall as one threshold falls, and where decisions stop."""
    points = [
        {"run": run, "recall": rounded(recall), "precision": rounded(precision)}
        for run, curve in runs.items()
        for recall, precision in zip(curve.recall, curve.precision, strict=True)
    ]
    stops = [
        {"run": run, "recall": rounded(dot.x), "precision": rounded(dot.y), "hollow": dot.hollow}
        | {"F1": rounded(2 * dot.x * dot.y / (dot.x + dot.y)) if dot.x + dot.y else 0.0}
        for run, curve in runs.items()
        for dot in curve.accepted
        if not np.isnan([dot.x, dot.y]).any()
    ]
    axes = {"x": unit_axis(alt.X, "recall"), "y": unit_axis(alt.Y, "precision")}
    lines = chart_of(points).mark_line(strokeWidth=1.8)
    lines = lines.encode(**axes, order="recall:Q", **by_run(runs, "color", "strokeDash"))
    tips = [*map(alt.Tooltip, ("run:N", "recall:Q", "precision:Q", "F1:Q"))]
    looks = by_run(runs, "color", "shape")
    dots = dots_of(stops, 120, **axes, **looks, tooltip=tips)
    drawn = alt.layer(*_f1_levels(axes), lines, *dots)
    return finished("precision-recall", title, caption, drawn, SQUARE)


def _f1_levels(axes: Mapping[str, Any]) -> Iterable[alt.Chart]:
    """Where F1 is the same: recall r and precision f r / (2 r - f)."""
    rows = [
        {"f": level, "recall": rounded(r), "precision": rounded(level * r / (2 * r - level))}
        for level in F1_LEVELS
        for r in np.geomspace(level / (2 - level), 1, 60)
    ]
    lines = chart_of(rows).mark_line(color=GREY, opacity=0.45, strokeWidth=1, strokeDash=[3, 4])
    yield lines.encode(**axes, detail="f:N", order="recall:Q")
    ends = [{**row, "words": f"F1 = {row['f']}"} for row in rows if row["recall"] == 1]
    words = chart_of(ends).mark_text(align="right", dy=-6, fontSize=10, color=GREY)
    yield words.encode(**axes, text="words:N")


def separation(
    name: str,
    title: str,
    caption: str,
    shares: Mapping[str, Values],  # group -> (bin,)
    line: float | None = None,  # a score
    axis: str = "score (logit)",
    words: str = "",  # beside the line
) -> Chart:
    """How the scores of answers and of the others lie, and a line between them."""
    rows = [
        {"of": group, "score": float(edge), "share": rounded(share)}
        for group, of_group in shares.items()
        for edge, share in zip(EDGES, np.append(of_group, of_group[-1]), strict=True)
    ]
    # The outermost bins hold all that lies beyond: they may stand out of the picture.
    highest = max(of_group[1:-1].max() for of_group in shares.values()) or 1.0
    areas = chart_of(rows).mark_area(
        interpolate="step-after", fillOpacity=0.16, line={"strokeWidth": 1.6}, clip=True
    )
    scale = alt.Scale(domain=list(GROUPS), range=list(GROUP_COLOURS))
    legend = alt.Legend(orient="top", columns=2)
    drawn = areas.encode(
        x=alt.X("score:Q", title=axis, scale=alt.Scale(nice=False)),
        y=alt.Y(
            "share:Q", title="share of the group", stack=None, scale=scale_of((0, 1.1 * highest))
        ),
        color=alt.Color("of:N", scale=scale, title=None, legend=legend),
    )
    where = chart_of([] if line is None else [{"x": rounded(line), "words": words}])
    rule = where.mark_rule(strokeDash=[5, 4], strokeWidth=1.6, color="#777777").encode(x="x:Q")
    label = where.mark_text(align="left", dx=5, fontSize=11, color="#777777")
    named = label.encode(x="x:Q", y=alt.value(8), text="words:N")
    return finished(name, title, caption, alt.layer(drawn, rule, named, _bin_tips(shares)))


def _bin_tips(shares: Mapping[str, Values]) -> alt.Chart:
    """Bars that cannot be seen: over each bin, they tell the shares of all groups."""
    rows = [
        {"from": float(low), "to": float(high)}
        | {group: rounded(of_group[place]) for group, of_group in shares.items()}
        for place, (low, high) in enumerate(pairwise(EDGES))
    ]
    tips = [alt.Tooltip(f"{group}:Q", format=".2%") for group in shares]
    bars = chart_of(rows).encode(x="from:Q", x2="to:Q", tooltip=["from:Q", *tips])
    whole: alt.Chart = bars.encode(y=alt.value(0), y2=alt.value(HEIGHT)).mark_bar(opacity=0)
    return whole


def reliability(caption: str, runs: Mapping[str, Evaluation]) -> Chart:
    """What probabilities say, and what is true: as scored, and as calibrated on valid."""
    rows = [
        {"run": run, "probabilities": kind, **point}
        for run, evaluation in runs.items()
        for kind, calibration in (
            (AS_SCORED, evaluation.calibration),
            (CALIBRATED, evaluation.calibrated),
        )
        if calibration is not None
        for point in _reliable(calibration)
    ]
    axes = {
        "x": unit_axis(alt.X, "stated", "probability that is stated"),
        "y": unit_axis(alt.Y, "true", "share that is right"),
    }
    ends = [{"stated": end, "true": end} for end in (0, 1)]
    dashed = chart_of(ends).mark_line(color=GREY, opacity=0.6, strokeDash=[3, 4], strokeWidth=1)
    tips = [*map(alt.Tooltip, ("run:N", "probabilities:N", "stated:Q", "true:Q", "candidates:Q"))]
    kinds = alt.Scale(domain=[CALIBRATED, AS_SCORED], range=[[1, 0], [2, 3]])
    dashes = alt.StrokeDash("probabilities:N", scale=kinds, legend=None)
    base = chart_of(rows).encode(**axes, tooltip=tips)
    lines = base.mark_line(strokeWidth=1.4).encode(**by_run(runs, "color"), strokeDash=dashes)
    dots = base.mark_point(filled=True, size=45, opacity=1).encode(
        **by_run(runs, "color", "shape"), detail=alt.Detail("probabilities:N")
    )
    drawn = alt.layer(dashed.encode(**axes), lines, dots)
    return finished("reliability", "Are probabilities what they say?", caption, drawn, SQUARE)


def _reliable(calibration: Calibration) -> Rows:
    """A point for each bin that has candidates."""
    sizes = calibration.candidates.sum(0)
    return [
        {"stated": rounded(stated), "true": rounded(true), "candidates": int(size)}
        for stated, true, size in zip(*calibration.reliability(), sizes, strict=True)
        if size
    ]
