"""audit: what is wrong with a benchmark."""

from dataclasses import asdict
from typing import Annotated

import typer

import assent
from assent.cli.common import BenchmarkFolder, as_json, command, show


@command()
def audit(
    benchmark: BenchmarkFolder,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit with 1 if something is wrong (not if it is merely skewed)."
        ),
    ] = False,
) -> None:
    """Check a benchmark for leaks and contradictions.

    Leaks, such as a fact that is both known and asked for, make results look too good.
    """
    from assent.reporting.benchmarks import audit_grid

    findings = assent.audit(benchmark)
    if not as_json(lambda: {"findings": [{**asdict(f), "failed": f.failed} for f in findings]}):
        show(audit_grid(findings))
    if strict and any(finding.failed for finding in findings):
        raise typer.Exit(1)
