"""The report as one page: new facts, how well the runs decide, and how they were made."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assent.building.auditing import audit
from assent.core.counts import METRICS
from assent.core.queries import WITH_ANSWERS
from assent.core.version import __version__
from assent.deciding.naming import rule_name
from assent.measuring.classification import compared as difference
from assent.reporting.benchmarks import (
    KIND_NAMES,
    audit_grid,
    audit_line,
    benchmark_line,
    queries_grid,
)
from assent.reporting.chart import colour, dash, shape
from assent.reporting.decisions import (
    SET_NAMES,
    decisions_grid,
    difference_line,
    metric_cell,
    metric_name,
    relations_grid,
    summary,
)  # fmt: skip
from assent.reporting.expecting import Found
from assent.reporting.fact_list import FactList, fact_list
from assent.reporting.grid import (
    DASH,
    Cell,
    Grid,
    clipped,
    count,
    numbers,
    share,
    texts,
    words,
)
from assent.reporting.html import environment, for_script, policy, vega
from assent.reporting.looks import house_style, own_file
from assent.reporting.measures import comparison_grid, further_grid, ranking_grid
from assent.reporting.reported_run import SAMPLES, ReportedRun, Section
from assent.reporting.sample_queries import (
    candidates_grid,
    query_in_words,
    sample_rows,
)  # fmt: skip

MOST_RELATIONS = 500  # rows of the table of relations
OUTLINES = {  # in a box of 26 by 12
    "circle": "M13 2a4 4 0 1 0 0 8a4 4 0 1 0 0-8z",
    "square": "M9 2h8v8h-8z",
    "triangle-up": "M13 1l5 9h-10z",
}


class Card(NamedTuple):
    """A run at the top of the page."""

    name: str
    colour: str
    model: str
    sentences: Sequence[str]
    numbers: Mapping[str, Cell]


class Mark(NamedTuple):
    """How a run looks in every chart, for a legend that several charts share."""

    run: str
    colour: str
    dashes: str  # of a line, as SVG has them
    outline: str  # of a dot, as SVG has it


class Sample(NamedTuple):
    """A test query, and what the runs say to it."""

    words: str
    kind: str
    answers: int
    candidates: Grid


class Together(NamedTuple):
    """What the runs share, which are of one benchmark, and how they compare."""

    name: str
    compared: Grid  # no rows of a run alone
    line: str
    warnings: Sequence[str]
    queries: Grid
    audit: Grid
    audited: str
    is_wrong: bool
    decisions: Grid
    differences: Sequence[str]
    relations: Grid
    runs: int
    samples: Sequence[Sample]


def page(
    runs: Sequence[ReportedRun], sections: Sequence[Section], found: Sequence[Found] = ()
) -> str:
    """The whole report: new facts first, then how well the runs decide, then how they were made."""
    scripts = [vega(), own_file("page.js")]
    evaluations = {run.name: run.evaluation for run in runs}
    facts = [fact_list(one, number) for number, one in enumerate(found, 1)]
    charts = {chart.name: chart.spec for part in sections for chart in part.charts}
    together = _together(runs)
    return (
        environment()
        .get_template("page.html")
        .render(
            title=f"assent: {', '.join(evaluations)}",
            headline=_headline(facts, together.name),
            policy=policy(scripts),
            scripts=scripts,
            style=house_style() + own_file("page.css"),
            cards=[_card(run, place) for place, run in enumerate(runs)],
            marks=[_mark(run.name, place) for place, run in enumerate(runs)],
            together=together,
            settings=settings_grid(runs),
            comparison=comparison_grid(evaluations),
            ranking=ranking_grid(evaluations),
            further=further_grid(evaluations),
            sections=sections,
            facts=facts,
            data=for_script({"charts": charts, "facts": {one.name: one.data for one in facts}}),
            version=__version__,
        )
    )


def _headline(facts: Sequence[FactList], graph: str) -> str:
    """What the page is about, in one line."""
    if len(facts) == 1:
        new, comma, share = facts[0].headline.partition(", ")
        return f"{new} for {graph}{comma}{share}"
    if facts:
        return f"New facts for {graph}, by {len(facts)} runs"
    return f"What is accepted for {graph}, and what is left"


def _card(run: ReportedRun, place: int) -> Card:
    # What a run was tuned for comes first.
    first = "precision" if _wants_precision(run) else "f1"
    metrics = sorted(METRICS, key=lambda metric: metric != first)
    cells = {metric_name(metric): metric_cell(run.evaluation, metric) for metric in metrics}
    if _wants_precision(run):
        facts = {"facts accepted": count(run.evaluation.classified.of("full").accepted)}
        cells = {"precision": cells["precision"], **facts, **cells}
    return Card(
        run.name,
        colour(place),
        f"{run.made}, {rule_name(run.decider.rule)}",
        summary(run.evaluation),
        {**cells, "MRR": share(run.evaluation.mrr)},
    )


def _mark(run: str, place: int) -> Mark:
    dashes = " ".join(map(str, dash(place))) if dash(place)[1] else "none"
    return Mark(run, colour(place), dashes, OUTLINES[shape(place)])


def _wants_precision(run: ReportedRun) -> bool:
    """Whether the run was tuned for a precision, not for a balance of precision and recall."""
    return "promise" in run.decider.found or run.decider.objective.startswith("precision")


def _together(runs: Sequence[ReportedRun]) -> Together:
    benchmark = runs[0].benchmark
    findings = audit(benchmark)
    return Together(
        clipped(runs[0].dataset),
        runs_grid(runs),
        benchmark_line(benchmark),
        [str(warning) for warning in benchmark.origin.get("warnings", ())],
        queries_grid(benchmark),
        audit_grid(findings),
        audit_line(findings),
        any(finding.failed for finding in findings),
        decisions_grid({run.name: run.evaluation for run in runs}),
        _differences(runs),
        relations_grid([run.decided for run in runs], MOST_RELATIONS),
        len(runs),
        list(_samples(runs)),
    )


def _differences(runs: Sequence[ReportedRun]) -> list[str]:
    """F1 of each of these runs beside the first; with intervals."""
    first, *others = runs
    lines = []
    if len(others) > 1:
        lines.append(f"The others are compared with {first.name}, the first run that was named")
    for other in others:
        found = difference(first.evaluation.classified, other.evaluation.classified)
        lines.append(f"{other.name} beside {first.name}, {difference_line('full', found)}")
    return lines


def _samples(runs: Sequence[ReportedRun]) -> Iterator[Sample]:
    """The sample queries, and what each run says to them."""
    benchmark = runs[0].benchmark
    kinds = {row: kind for kind, row in sample_rows(benchmark, SAMPLES)}
    for said in zip(*(run.candidates for run in runs), strict=True):
        row = said[0].row
        headings = [run.name for run in runs] if len(runs) > 1 else ["candidate"]
        columns = dict(zip(headings, said, strict=True))
        yield Sample(
            clipped(query_in_words(benchmark.test, row, benchmark.vocabulary)),
            KIND_NAMES[kinds[row]].removeprefix("… "),
            int(benchmark.test.num_answers[row]),
            candidates_grid(f"query-{row}", columns, benchmark.vocabulary.entity),
        )


def runs_grid(runs: Sequence[ReportedRun]) -> Grid:
    """A row for each of several runs, the highest F1 first."""
    rows = [
        [
            words(run.name, "run"),
            words(run.model),
            *(Cell(DASH) if size is None else count(size) for size in (run.dim, run.epochs)),
            *(metric_cell(run.evaluation, "f1", s)._replace(note="") for s in WITH_ANSWERS),
            share(run.evaluation.mrr),
        ]
        for run in sorted(runs, key=lambda run: -np.nan_to_num(run.evaluation.f1()))
    ]
    f1s = (f"F1, {SET_NAMES[of_set]}" for of_set in WITH_ANSWERS)
    columns = [*texts("run", "model"), *numbers("dimensions", "epochs", *f1s, "MRR")]
    return Grid("runs-compared", columns, rows if len(rows) > 1 else [], sortable=True)


def settings_grid(runs: Sequence[ReportedRun]) -> Grid:
    """A column for each run, a row for each setting that any of them has."""
    columns = [
        {
            f"{section}.{key}": value
            for section, values in run.settings.items()
            for key, value in values.items()
        }
        | {"decided by": run.decider.rule, "for": run.decider.objective}
        for run in runs
    ]
    keys = dict.fromkeys(key for column in columns for key in column)
    rows = [[words(key), *(words(column.get(key, DASH)) for column in columns)] for key in keys]
    return Grid("settings", texts("setting", *(run.name for run in runs)), rows)
