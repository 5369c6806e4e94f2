"""The report: Markdown to read, JSON to work with, charts beside them; and the paper's thesis."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from scipy.stats import rankdata

from assent.core.counts import Number, ratio
from assent.core.version import __version__
from assent.files.atomic import beside
from assent.measuring.plain import plain
from assent.measuring.separation import GROUPS
from assent.reporting import charts
from assent.reporting.chart import Chart
from assent.reporting.charts import Curve, Dot
from assent.reporting.grid import DASH, Cell, Grid, digits, numbers, texts, words
from assent.reporting.rendering import escaped, markdown, svg
from assent.reproducing import paper, tables
from assent.reproducing.models import title
from assent.reproducing.results import RULES, Result, all_rules, number

WAYS = {"paper": "the paper's thresholds", "exact": "exact thresholds"}
SEPARATED = ("transe", "region")  # the kinds of models whose scores the paper sets apart
LARGE = ("draws", "curve", "separation", "samples")  # left out of report.json
FEWEST_MODELS = 3  # that have an order worth comparing

Results = Mapping[str, Result]
Values = NDArray[np.float64]

HOW_TO_READ = f"""Cells read *ours (the paper's)*, as in `.334 (.293)`; {DASH} stands for what there
is not: a model that has not been run, or a number that the paper does not print. Sets of queries:
all (full), complete (C), complete and fake (C+F), incomplete (I). *Global* is one threshold for all
relations, *multiple* one for each relation and direction. Thresholds are found on valid; decisions
are measured on test unless said otherwise. *MRR* is of the facts that the answers make, each ranked
among its heads and among its tails, and filtered: other true answers do not stand in the way.
*Unfiltered*, only train answers are left out, so that a perfect ranking would reach {{highest}}."""


@dataclass(frozen=True, slots=True)
class About:
    """What the report says of the benchmark."""

    names: Sequence[str]  # (entity,)  readable ones
    highest_mrr: float  # that a perfect ranking would reach on test
    measured_on: str | None = None  # where that is not the published benchmark


def write_report(out: Path, results: Results, about: About, command: str) -> Path:
    """Writes report.md, report.json and figures/."""
    drawn = charts_of(results) if results else []
    for chart in drawn:
        _write(out / "figures" / f"{chart.name}.svg", svg(chart))
    found = agreement(list(results.values()))
    content = plain(
        {
            "assent": __version__,
            "command": command,
            "measured_on": about.measured_on,
            "highest_mrr": about.highest_mrr,
            "agreement": found,
            "agreement_in_the_paper": agreement_in_the_paper(),
            "models": {name: _small(result) for name, result in results.items()},
        }
    )
    _write(out / "report.json", json.dumps(content, indent=1, allow_nan=False) + "\n")
    parts = [*_opening(results, about, command), *_tables(results)]
    parts += [*_samples(results, about.names), *_thesis(results, found, drawn)]
    _write(out / "report.md", "\n\n".join(parts) + "\n")
    return out / "report.md"


def _opening(results: Results, about: About, command: str) -> Iterator[str]:
    yield "# The paper's experiments on FB14k-QAQ"
    yield HOW_TO_READ.format(highest=digits(about.highest_mrr))
    if about.measured_on is not None:
        yield (
            f"**Measured on `{about.measured_on}`**: other queries about the same train facts. "
            "The paper's numbers are of the published queries."
        )
    yield from tables.cut_notes(results)
    missing = [title(name) for name in paper.MODELS if name not in results]
    if missing:
        yield f"Not run yet: {', '.join(missing)}."
    yield "## What was run"
    yield f"```\n{command}\n```"
    yield markdown(tables.settings_grid(results))
    yield f"assent {__version__}. All settings stand in `report.json` and in each run's folder."


def _tables(results: Results) -> Iterator[str]:
    others = tables.names_in(results, paper.models_in("2"))
    kin = [name for name in paper.KIN if name in results]
    rows = {
        "2": [name for name in others if name not in kin],
        "4": [*paper.models_in("4"), *kin],
    }
    for table, names in rows.items():
        for way, in_words in WAYS.items():
            yield f"## Table {table}, {in_words}"
            yield markdown(tables.scores_grid(results, way, names))
    names = tables.names_in(results)
    for way, in_words in WAYS.items():
        yield f"## B.2: {in_words}, as probabilities"
        yield markdown(tables.thresholds_grid(results, way, names))
    yield (
        "The tables of Appendix C read *test (valid) / the paper's test (valid)*. "
        "On valid the thresholds were found, so that its numbers flatter."
    )
    for way, in_words in WAYS.items():
        yield f"## C.1, {in_words}"
        yield markdown(tables.overall_grid(results, way, names))
    for way, in_words in WAYS.items():
        for setting in paper.SETTINGS:
            yield f"## C.2, {setting}, {in_words}"
            yield markdown(tables.detail_grid(results, way, setting, names))


def _samples(results: Results, names: Sequence[str]) -> Iterator[str]:
    """Table 3."""
    wanted = [name for name in paper.models_in("3") if name in results]
    models = [name for name in wanted if results[name].values["samples"]]
    if not models:
        return
    yield "## Table 3: sample queries"
    yield (
        "The ten best candidates and their probabilities; **answers** bold, *known from train* "
        "italic (these count for nothing). What stands above the threshold is accepted."
    )
    for query, way, grid in tables.sample_grids(results, models, names):
        yield f"### {escaped(query)}, {WAYS[way]}"
        yield markdown(grid)


def _thesis(results: Results, found: dict[str, Any], drawn: Sequence[Chart]) -> Iterator[str]:
    yield "## Does a good ranking make good decisions?"
    yield (
        "Spearman's correlation of two orders of the models: by MRR and by F1 on all test queries. "
        "1: the same order; 0: the one says nothing of the other. In brackets a 95 % interval, "
        "from random samples of test queries and of ranked facts (the same for all models), not of "
        "models."
    )
    yield markdown(_agreement_grid(found, len(results)))
    for chart in drawn:
        yield f"![{chart.title}](figures/{chart.name}.svg)"
        yield chart.caption


def _agreement_grid(found: dict[str, Any], num_models: int) -> Grid:
    papers = agreement_in_the_paper()
    rows = [
        [
            words(in_words),
            words(setting),
            Cell(_correlation(found.get(rule))),
            Cell(f"{papers[setting]:.2f}"),
        ]
        for way, in_words in WAYS.items()
        for setting, rule in RULES[way].items()
    ]
    size = len(_in_the_paper())
    ours, theirs = f"ours (models: {num_models})", f"the paper's (models: {size})"
    return Grid("agreement", [*texts("thresholds", ""), *numbers(ours, theirs)], rows)


def _correlation(found: dict[str, Any] | None) -> str:
    if found is None:
        return f"{DASH} (fewer than three models)"
    if np.isnan(found["spearman"]):
        return f"{DASH} (all models are equal)"
    if found["interval"] is None:
        return f"{found['spearman']:.2f}"
    low, high = found["interval"]
    return f"{found['spearman']:.2f} [{low:.2f}, {high:.2f}]"


def _small(result: Result) -> dict[str, Any]:
    return {key: value for key, value in result.values.items() if key not in LARGE}


def _write(path: Path, text: str) -> None:
    with beside(path) as part:
        part.write_text(text, encoding="utf-8")


def agreement(results: Sequence[Result]) -> dict[str, Any]:
    """Rule -> Spearman's correlation of MRR and F1 on test, and its bootstrap interval."""
    if len(results) < FEWEST_MODELS:
        return {}
    ranked = _draws(results, "mrr")
    found = {}
    for rule in all_rules():
        drawn = spearman(ranked, _draws(results, rule))
        drawn = drawn[~np.isnan(drawn)]
        found[rule] = {
            "spearman": spearman(
                np.array([result.mrr() for result in results]),
                np.array([result.f1(rule) for result in results]),
            ),
            "interval": np.quantile(drawn, [0.025, 0.975]).tolist() if len(drawn) else None,
        }
    return found


def agreement_in_the_paper() -> dict[str, float]:
    """Setting -> the same of the paper's own numbers, of all models that it prints."""
    chosen = _in_the_paper()
    ranked = np.array([paper.mrr(name) for name in chosen], np.float64)
    return {
        setting: spearman(
            ranked, np.array([paper.f1(name, setting, "full") for name in chosen], np.float64)
        )
        for setting in paper.SETTINGS
    }


def _in_the_paper() -> list[str]:
    """The models of which the paper prints numbers."""
    return [name for name in paper.MODELS if paper.mrr(name) is not None]


def spearman(one: Values, other: Values) -> Number:
    """Pearson's correlation of the ranks along the first axis, ties in the middle.

    nan where all are the same.
    """
    x, y = (rankdata(values, axis=0) - (len(values) + 1) / 2 for values in (one, other))
    spread = (x * x).sum(axis=0) * (y * y).sum(axis=0)
    return ratio((x * y).sum(axis=0), np.sqrt(spread))


def _draws(results: Sequence[Result], name: str) -> Values:  # (model, draw)
    return np.array([result.values["draws"][name] for result in results], np.float64)


def charts_of(results: Results) -> list[Chart]:
    """Ranking against deciding, precision and recall, and how scores lie."""
    found = [_mrr_and_f1(results, way) for way in WAYS]
    found.append(_precision_recall(results))
    return found + [_separation(r) for name, r in results.items() if name.startswith(SEPARATED)]


def _mrr_and_f1(results: Results, way: str) -> Chart:
    dots = {
        title(name): [
            Dot(result.mrr(), result.f1(rule), hollow=setting == "global")
            for setting, rule in RULES[way].items()
        ]
        for name, result in results.items()
    }
    caption = "Hollow: one threshold for all relations. Full: one for each relation."
    return charts.mrr_and_f1(f"mrr-f1-{way}", f"MRR and F1 on test, {WAYS[way]}", caption, dots)


def _precision_recall(results: Results) -> Chart:
    curves = {}
    for name, result in results.items():
        accepted = [
            Dot(
                result.metric("recall", "test", rule, "full"),
                result.metric("precision", "test", rule, "full"),
                hollow=setting == "global",
            )
            for setting, rule in RULES["exact"].items()
        ]
        curve = result.values["curve"]
        recall, precision = (np.array([*map(number, curve[c])]) for c in ("recall", "precision"))
        curves[title(name)] = Curve(recall, precision, accepted)
    caption = (
        "Lines: as one threshold for all relations falls. Dots, of exact thresholds: hollow, one "
        "for all relations; full, one for each. Along a dashed line F1 is the same."
    )
    return charts.precision_recall("Precision and recall on test", caption, curves)


def _separation(result: Result) -> Chart:
    shares = {}
    for group in GROUPS:
        counts = np.array(result.values["separation"][group], np.float64)
        shares[group] = counts / max(counts.sum(), 1)
    threshold = number(result.values["thresholds"][RULES["exact"]["global"]]["mean"])
    name = title(result.name)
    return charts.separation(
        f"separation-{result.name}",
        f"{name}: scores on test",
        f"{name}: how the scores of each group lie, and the one threshold between them.",
        shares,
        float(logit(threshold)) if 0 < threshold < 1 else None,
        words="one threshold",
    )
