"""The report: Markdown to read, JSON to work with, figures beside them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assent.core.version import __version__
from assent.files.atomic import beside
from assent.measuring.plain import plain
from assent.reporting.results import DASH, share
from assent.reproducing import tables
from assent.reproducing.agreement import agreement, in_the_paper
from assent.reproducing.figures import WAYS, figures
from assent.reproducing.markdown import markdown_table
from assent.reproducing.paper_numbers import SETTINGS
from assent.reproducing.results import RULES, Result
from assent.reproducing.samples import sample_table
from assent.reproducing.specs import PAPER, title

SAMPLED = ("complex-128", "conve-128")  # the models of Table 3
LARGE = ("draws", "curve", "separation", "samples")  # left out of report.json

Results = Mapping[str, Result]

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

    names: Mapping[str, str]  # readable ones, of entities
    highest_mrr: float  # that a perfect ranking would reach on test
    measured_on: str | None = None  # where that is not the published benchmark


def write_report(out: Path, results: Results, about: About, command: str) -> Path:
    """Writes report.md, report.json and figures/."""
    drawn = figures(results)
    for file, svg in drawn.items():
        _write(out / "figures" / file, svg)
    found = agreement(list(results.values()))
    content = plain(
        {
            "assent": __version__,
            "command": command,
            "measured_on": about.measured_on,
            "highest_mrr": about.highest_mrr,
            "agreement": found,
            "agreement_in_the_paper": in_the_paper(),
            "models": {name: _small(result) for name, result in results.items()},
        }
    )
    _write(out / "report.json", json.dumps(content, indent=1, allow_nan=False) + "\n")
    parts = [*_opening(results, about, command), *_tables(results)]
    parts += [*_samples(results, about.names)]
    parts += [*_thesis(results, found, list(drawn))]
    _write(out / "report.md", "\n\n".join(parts) + "\n")
    return out / "report.md"


def _opening(results: Results, about: About, command: str) -> Iterator[str]:
    yield "# The paper's experiments on FB14k-QAQ"
    yield HOW_TO_READ.format(highest=share(about.highest_mrr))
    if about.measured_on is not None:
        yield (
            f"**Measured on `{about.measured_on}`**: other queries about the same train facts. "
            "The paper's numbers are of the published queries."
        )
    yield from tables.cut_notes(results)
    missing = [title(name) for name in PAPER if name not in results]
    if missing:
        yield f"Not run yet: {', '.join(missing)}."
    yield "## What was run"
    yield f"```\n{command}\n```"
    yield tables.settings_table(results)
    yield f"assent {__version__}. All settings stand in `report.json` and in each run's folder."


def _tables(results: Results) -> Iterator[str]:
    for number, first in (("2", tables.IN_TABLE_2), ("4", tables.IN_TABLE_4)):
        names = tables.names_in(results, first) if number == "2" else first
        for way, words in WAYS.items():
            yield f"## Table {number}, {words}"
            yield tables.scores_table(results, way, names)
    names = tables.names_in(results)
    for way, words in WAYS.items():
        yield f"## B.2: {words}, as probabilities"
        yield tables.thresholds_table(results, way, names)
    yield (
        "The tables of Appendix C read *test (valid) / the paper's test (valid)*. "
        "On valid the thresholds were found, so that its numbers flatter."
    )
    for way, words in WAYS.items():
        yield f"## C.1, {words}"
        yield tables.overall_table(results, way, names)
    for way, words in WAYS.items():
        for setting in SETTINGS:
            yield f"## C.2, {setting}, {words}"
            yield tables.detail_table(results, way, setting, names)


def _samples(results: Results, names: Mapping[str, str]) -> Iterator[str]:
    """Table 3."""
    models = [name for name in SAMPLED if name in results and results[name].values["samples"]]
    if not models:
        return
    yield "## Table 3: sample queries"
    yield (
        "The ten best candidates; **answers** bold, *known from train* italic (these count for "
        "nothing), the threshold as a line: what stands above it is accepted."
    )
    for place, sample in enumerate(results[models[0]].values["samples"]):
        gold = ", ".join(f"**{names.get(a, a)}**" for a in sample["answers"]) or "nothing"
        for way, words in WAYS.items():
            yield f"### {sample['query']} (in {sample['set']}; right: {gold}), {words}"
            columns = {
                f"{title(name)}, {setting}": (results[name].values["samples"][place], rule)
                for setting, rule in RULES[way].items()
                for name in models
            }
            yield sample_table(columns, names)


def _thesis(results: Results, found: dict[str, Any], drawn: list[str]) -> Iterator[str]:
    yield "## Does a good ranking make good decisions?"
    yield (
        "Spearman's correlation of two orders of the models: by MRR and by F1 on all test queries. "
        "1: the same order; 0: the one says nothing of the other. In brackets a 95 % interval, "
        "from random samples of test queries and of ranked facts (the same for all models), not of "
        "models."
    )
    papers = in_the_paper()
    rows = []
    for way, words in WAYS.items():
        for setting, rule in RULES[way].items():
            rows.append([words, setting, _correlation(found.get(rule)), f"{papers[setting]:.2f}"])
    yield markdown_table(
        ("thresholds", "", f"ours (models: {len(results)})", "the paper's (models: 9)"), rows
    )
    for file in drawn:
        yield f"![{file.removesuffix('.svg')}](figures/{file})"


def _correlation(found: dict[str, Any] | None) -> str:
    if found is None:
        return f"{DASH} (fewer than three models)"
    if found["interval"] is None:
        return f"{found['spearman']:.2f}"
    low, high = found["interval"]
    return f"{found['spearman']:.2f} [{low:.2f}, {high:.2f}]"


def _small(result: Result) -> dict[str, Any]:
    return {key: value for key, value in result.values.items() if key not in LARGE}


def _write(path: Path, text: str) -> None:
    with beside(path) as part:
        part.write_text(text, encoding="utf-8")
