"""The whole path of a fact, from file to decision: the only place that knows the order."""

from pathlib import Path

from assent.building.auditing import Finding, audit
from assent.building.recipe import Progress, build, silent
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.datasets import fetch, located
from assent.files.benchmarks import save
from assent.files.saving import beside
from assent.files.triples import read
from assent.reporting.page import markdown


def dataset(name: str) -> KnowledgeBase:
    """A named graph: built in, or fetched if it is not here yet."""
    return read(located(name) or fetch(name))


def demo(out: Path, progress: Progress = silent) -> tuple[Benchmark, list[Finding], Path]:
    """The built-in world graph becomes a benchmark, which is audited and described in a report."""
    progress("reading the world graph")
    kb = dataset("world")
    benchmark = build(kb, progress=progress)
    save(benchmark, out / "benchmark", overwrite=True)
    progress("auditing")
    findings = audit(benchmark)
    report = out / "report.md"
    with beside(report) as part:
        part.write_text(markdown(benchmark, findings), encoding="utf-8")
    return benchmark, findings, report
