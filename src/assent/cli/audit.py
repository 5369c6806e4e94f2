"""audit: what is wrong with a benchmark."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import assent
from assent.cli.common import BenchmarkFolder, command, out


@command()
def audit(
    benchmark: BenchmarkFolder,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 1 if something is wrong, not merely skewed.")
    ] = False,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="Write the findings as JSON; `-` for standard output."),
    ] = None,
) -> None:
    """Look for leaks, collisions and contradictions in a benchmark."""
    from assent.files.atomic import beside
    from assent.reporting.benchmarks import audit_grid
    from assent.reporting.rendering import terminal

    findings = assent.audit(benchmark)
    text = json.dumps([{**asdict(f), "failed": f.failed} for f in findings], indent=2)
    if json_file == Path("-"):
        print(text)
    else:
        out.print(terminal(audit_grid(findings)))
        if json_file is not None:
            with beside(json_file) as part:
                part.write_text(text + "\n", encoding="utf-8")
    if strict and any(finding.failed for finding in findings):
        raise typer.Exit(1)
