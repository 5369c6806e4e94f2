"""The demonstration: the whole path on the built-in world graph."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import assent
from assent.cli.common import command, err, out, say

if TYPE_CHECKING:
    from assent.core.benchmark import Benchmark
    from assent.verbs.runs import Run

PRECISION = 0.6  # a graph of this size cannot promise much more: docs/completing.md
REVIEW_ABOVE = 0.5


@command()
def demo(
    folder: Annotated[Path, typer.Option("--out", help="Where everything goes.")] = Path(
        "assent-demo"
    ),
) -> None:
    """The whole path on the built-in world graph: from a graph to new facts and a report."""
    from assent.reporting.results import classification_table
    from assent.reporting.samples import sample_decisions
    from assent.reporting.watching import watching
    from assent.settings import resolve
    from assent.verbs.deciders import save_decider
    from assent.verbs.train import popularity

    benchmark = _built(folder / "benchmark")
    _heading("A model learns the facts of train")
    # One thread: steps are small here, and two would wait for each other on a busy machine.
    alone = ["train.threads=1"]
    with watching(err, resolve("complex").train.epochs) as watcher:
        run = assent.train(
            folder / "benchmark", "complex", out=folder / "run", changes=alone, watcher=watcher
        )
    say(
        f"ComplEx: F1 on valid {max(run.trained.scores):.3f} with one threshold; "
        f"popularity alone: {popularity(benchmark, 'f1'):.3f}"
    )

    _heading("A threshold for each relation, found on valid, decides on test")
    decider = assent.tune(run, "per-relation")
    save_decider(decider, folder / "run", benchmark)
    found = assent.evaluate(run, decider)
    out.print(classification_table(found))
    say("The surest of each of ten relations:")
    for verdict, decision in sample_decisions(found):
        say(f"  {verdict:<18} {decision}")

    facts = _completed(run, folder)
    _heading("The report")
    page = assent.report([run], folder / "report.html", facts=facts)
    say(f"report: {page}")


def _built(folder: Path) -> "Benchmark":
    from assent.reporting.progress import steps
    from assent.reporting.samples import sample_queries
    from assent.reporting.tables import KIND_NAMES, audit_line, benchmark_line, queries_table

    _heading("The world graph as a benchmark", first=True)
    with steps(err) as progress:
        benchmark = assent.build(assent.dataset("world"), progress=progress)
        assent.save(benchmark, folder, overwrite=True)
        progress("auditing")
        findings = assent.audit(benchmark)
    out.print(queries_table(benchmark))
    say(benchmark_line(benchmark))
    say(f"The audit: {audit_line(findings)}.")
    say("Some of its test queries:")
    for kind, query in sample_queries(benchmark, each=2):
        say(f"  {KIND_NAMES[kind]:<20} {query}")
    return benchmark


def _completed(run: "Run", folder: Path) -> Path:
    """Completes the graph; gives the file with accepted facts and facts to review."""
    from assent.files.facts import write_facts
    from assent.reporting.completions import facts_in_words, relations_completed, summary_lines
    from assent.reporting.progress import queries
    from assent.reporting.results import found_line, promise_table
    from assent.verbs.deciders import save_decider

    _heading(f"New facts: each relation promises that {PRECISION:.0%} of what it accepts is right")
    promise = assent.tune(run, "precision", precision=PRECISION)
    out.print(promise_table(promise.found["promise"]))
    say(found_line(promise) or "")
    say("The promise: for questions like those of valid; what the graph does not know is wrong.")
    save_decider(promise, folder / "promise.json", run.benchmark)
    with queries(err) as progress:
        found = assent.complete(run, decider=promise, review_above=REVIEW_ABOVE, progress=progress)
    out.print(relations_completed(found, 10))
    for line in summary_lines(found):
        say(line)
    say("Ten of them, how probable each is, and what speaks for it most:")
    for line in facts_in_words(found):
        say(line)
    facts = folder / "facts.jsonl"
    write_facts(facts, found.facts)
    say(f"facts: {facts}")
    return facts


def _heading(words: str, first: bool = False) -> None:
    out.print(words if first else f"\n{words}", style="bold")
