"""The figures of the report: each a small SVG."""

from collections.abc import Mapping

import numpy as np

from assent.measuring.separation import EDGES, GROUPS
from assent.reporting.colours import COLOURS, colour
from assent.reproducing import paper_numbers as paper
from assent.reproducing.drawing import Chart, Point
from assent.reproducing.results import RULES, Result, number
from assent.reproducing.specs import title

Results = Mapping[str, Result]

WAYS = {"paper": "the paper's thresholds", "exact": "exact thresholds"}
DASHES = ("", "6 3", "2 3")
SEPARATED = ("transe", "region")  # the models whose scores the paper sets apart


def figures(results: Results) -> dict[str, str]:
    """File name -> SVG; none without results."""
    found = {}
    if results:
        for way in WAYS:
            found[f"mrr-f1-{way}.svg"] = mrr_and_f1(results, way)
        found["precision-recall.svg"] = curves(results)
    for name in results:
        if name.startswith(SEPARATED):
            found[f"separation-{name}.svg"] = separation(results[name])
    return found


def mrr_and_f1(results: Results, way: str) -> str:
    """Each model a dot: one threshold hollow, many full."""
    points: list[tuple[str, str, Point]] = [
        (name, setting, (result.mrr(), result.f1(rule)))
        for name, result in results.items()
        for setting, rule in RULES[way].items()
    ]
    points = [point for point in points if not np.isnan(point[2]).any()]
    xs, ys = ([point[2][axis] for point in points] for axis in (0, 1))
    chart = Chart(
        f"MRR and F1 on test, {WAYS[way]} (hollow: one for all, full: one for each relation)",
        ("MRR", *_span(xs)),
        ("F1, all queries", *_span(ys)),
    )
    for name, setting, point in points:
        words = title(name) if setting == paper.SETTINGS[1] else ""
        mine = colour(list(results).index(name))
        chart.dot(point, mine, words, hollow=setting == paper.SETTINGS[0])
    return chart.svg()


def curves(results: Results) -> str:
    """Precision at every recall as one threshold falls, and where the rules stop."""
    chart = Chart(
        "Precision and recall on test (hollow: one threshold, full: one for each relation; exact)",
        ("recall", 0.0, 1.0),
        ("precision", 0.0, 1.0),
    )
    for place, (name, result) in enumerate(results.items()):
        mine = colour(place)
        curve = result.values["curve"]
        points = list(
            zip(map(number, curve["recall"]), map(number, curve["precision"]), strict=True)
        )
        chart.line(points, mine, title(name), DASHES[place // len(COLOURS) % len(DASHES)])
        for setting, rule in RULES["exact"].items():
            point = (
                result.metric("recall", "test", rule, "full"),
                result.metric("precision", "test", rule, "full"),
            )
            if not np.isnan(point).any():
                chart.dot(point, mine, hollow=setting == paper.SETTINGS[0])
    return chart.svg()


def separation(result: Result) -> str:
    """How the scores of answers and of the others lie, and the one threshold between them."""
    shares = {}
    for group in GROUPS:
        counts = np.array(result.values["separation"][group], np.float64)
        shares[group] = counts / max(counts.sum(), 1)
    highest = max(share.max() for share in shares.values()) or 1.0
    chart = Chart(
        f"{title(result.name)}: scores on test",
        ("score (logit)", float(EDGES[0]), float(EDGES[-1])),
        ("share of the group, a bin", 0.0, highest * 1.05),
    )
    for mine, (group, heights) in zip(COLOURS, shares.items(), strict=False):
        edges = np.repeat(EDGES, 2)[1:-1]
        steps = zip(edges.tolist(), np.repeat(heights, 2).tolist(), strict=True)
        chart.line(list(steps), mine, group)
    line = number(result.values["thresholds"][RULES["exact"]["global"]]["mean"])
    if 0 < line < 1:
        logit = float(np.log(line) - np.log1p(-line))
        chart.line([(logit, 0), (logit, highest)], "#444444", "one threshold", "4 3")
    return chart.svg()


def _span(values: list[float]) -> tuple[float, float]:
    """A little more than the values take."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = 0.08 * (high - low) or 0.05
    return max(low - room, 0.0), high + room
