"""audit: what is wrong with a benchmark."""

from dataclasses import asdict
from typing import Annotated

import typer

import assent
from assent.cli.arguments import BenchmarkFolder, Memory, Scratch, in_bytes
from assent.cli.common import as_json, command, notes, show


@command()
def audit(
    benchmark: BenchmarkFolder,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit with 1 if something is wrong (not if it is merely skewed)."
        ),
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(
            help="What looks, one of {engines}. Without it: memory, and duckdb for more than 1 GB "
            "of train facts."
        ),
    ] = None,
    memory: Memory = None,
    scratch: Scratch = None,
) -> None:
    """Check a benchmark for leaks and contradictions.

    Leaks, such as a fact that is both known and asked for, make results look too good.
    """
    from assent.files.engines.choosing import MEMORY_LIMIT, refuse_unheard
    from assent.reporting.benchmarks import audit_grid
    from assent.reporting.progress import steps
    from assent.verbs.audit import engine_of

    chosen = engine_of(benchmark, engine)
    refuse_unheard(chosen, {"memory": memory, "scratch": scratch})
    limit = in_bytes(memory, "--memory") or MEMORY_LIMIT
    with steps(notes) as progress:
        findings = assent.audit(
            benchmark, engine=chosen, memory=limit, scratch=scratch, progress=progress
        )
    if not as_json(lambda: {"findings": [{**asdict(f), "failed": f.failed} for f in findings]}):
        show(audit_grid(findings))
    if strict and any(finding.failed for finding in findings):
        raise typer.Exit(1)
