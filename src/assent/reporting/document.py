"""The report as one HTML file that asks nothing of the network and runs no script but its own."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from assent.building.auditing import audit
from assent.core.version import __version__
from assent.reporting import grids
from assent.reporting.cells import Cell, Grid, chance, clipped, part
from assent.reporting.colours import colour
from assent.reporting.figures import Figure
from assent.reporting.proposed import Proposed
from assent.reporting.said import Question, questions
from assent.reporting.subject import Subject, by_benchmark
from assent.reporting.tables import audit_line, benchmark_line
from assent.reporting.wording import decided_by, differences, summary


class Card(NamedTuple):
    """A run at the top of the page."""

    name: str
    colour: str
    model: str
    sentences: Sequence[str]
    numbers: Mapping[str, Cell]


class Group(NamedTuple):
    """The runs of one benchmark."""

    name: str
    line: str
    warnings: Sequence[str]
    queries: Grid
    audit: Grid
    audited: str
    is_wrong: bool
    decisions: Grid
    differences: Sequence[str]
    relations: Grid
    num_relations: int  # that test asks about; the table may show fewer
    alone: bool  # whether there is only one run of it
    questions: Sequence[Question]
    judged: bool


def document(
    subjects: Sequence[Subject],
    figures: Sequence[Figure],
    proposals: Mapping[str, Proposed] | None = None,
) -> str:
    """The whole page."""
    scripts = [_bundle(), _own("page.js")]
    page = _environment().get_template("page.html")
    return page.render(
        title=f"assent: {', '.join(subject.name for subject in subjects)}",
        policy=_policy(scripts),
        scripts=scripts,
        style=_own("page.css"),
        cards=[_card(subject, place) for place, subject in enumerate(subjects)],
        groups=[_group(group) for group in by_benchmark(subjects)],
        settings=grids.settings_grid(subjects),
        ranking=grids.ranking_grid(subjects),
        figures=figures,
        specs=_for_script({figure.name: figure.spec for figure in figures}),
        proposals=proposals or {},
        version=__version__,
    )


def _card(subject: Subject, place: int) -> Card:
    measured = subject.plain["classification"]["full"]
    numbers = {
        "F1": part(measured["f1"], measured["f1_interval"]),
        "precision": part(measured["precision"], measured["precision_interval"]),
        "recall": part(measured["recall"], measured["recall_interval"]),
        "MRR": part(subject.plain["mrr"]),
    }
    model = f"{subject.model}, {decided_by(subject)}"
    return Card(subject.name, colour(place), model, summary(subject), numbers)


def _group(subjects: Sequence[Subject]) -> Group:
    benchmark = subjects[0].benchmark
    findings = audit(benchmark)
    relations, num_relations = grids.relations_grid(subjects)
    return Group(
        clipped(subjects[0].dataset),
        benchmark_line(benchmark),
        [str(warning) for warning in benchmark.origin.get("warnings", ())],
        grids.queries_grid(benchmark),
        grids.audit_grid(findings),
        audit_line(findings),
        any(finding.failed for finding in findings),
        grids.decisions_grid(subjects),
        differences(subjects),
        relations,
        num_relations,
        len(subjects) == 1,
        questions(subjects),
        any(subject.judged for subject in subjects),
    )


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("assent.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"breakable": _breakable, "chance": _chance}
    return made


def _chance(value: float) -> str:
    return chance(value).text


def _breakable(text: str) -> Markup:
    """Long names of relations may break where people see parts in them."""
    return Markup(re.sub(r"([/._])", r"\1<wbr>", str(escape(text))))


def _for_script(value: Any) -> str:
    """JSON that cannot end the element it stands in: names come from users' graphs."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _policy(scripts: Sequence[str]) -> str:
    """What a browser may do with the page: run these scripts, and fetch nothing at all."""
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed, once for all figures."""
    scripts: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return "(() => {" + scripts.replace("</script", "<\\/script") + "})();"


def _own(name: str) -> str:
    return (files("assent.reporting") / "templates" / name).read_text(encoding="utf-8")
