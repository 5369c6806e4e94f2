"""demo: every verb in order, on the built-in world graph."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assent.cli.common import command, err, out, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assent.building.auditing import Finding
    from assent.completing.completing import Completion
    from assent.core.benchmark import Benchmark
    from assent.core.decider import Decider
    from assent.core.facts import KnowledgeBase
    from assent.measuring.evaluation import Evaluation
    from assent.verbs.runs import Run

PRECISION = 0.6  # a graph of this size cannot promise much more: docs/complete.md


@command()
def demo(
    folder: Annotated[Path, typer.Option("--out", help="Where everything goes.")] = Path(
        "assent-demo"
    ),
) -> None:
    """The whole path on the built-in world graph: from a graph to new facts and a report."""
    from assent.experiment import experiment
    from assent.reporting.progress import watching
    from assent.settings import resolve

    with watching(err, resolve("complex").train.epochs) as watcher:
        experiment(
            "world",
            folder,
            # One thread: steps are small here, and two would wait for each other when it is busy.
            changes=["train.threads=1"],
            precision=PRECISION,
            show=show,
            watcher=watcher,
        )
    say(f"everything that was made: {folder}")


def show(verb: str, result: Any) -> None:
    """Prints what a verb returned, as a person wants to see it."""
    SHOWN[verb](result)


def _read(kb: "KnowledgeBase") -> None:
    from assent.reporting.benchmarks import graph_line

    say(graph_line(kb))


def _build(benchmark: "Benchmark") -> None:
    from assent.reporting.benchmarks import KIND_NAMES, benchmark_line, queries_grid
    from assent.reporting.rendering import terminal
    from assent.reporting.sample_queries import sample_queries

    _heading("The world graph as a benchmark")
    out.print(terminal(queries_grid(benchmark)))
    say(benchmark_line(benchmark))
    say("Some of its test queries:")
    for kind, query in sample_queries(benchmark, each=2):
        say(f"  {KIND_NAMES[kind]:<20} {query}")


def _audit(findings: "Sequence[Finding]") -> None:
    from assent.reporting.benchmarks import audit_line

    say(f"The audit: {audit_line(findings)}.")


def _train(run: "Run") -> None:
    from assent.verbs.train import popularity

    _heading("A model learns the facts of train")
    say(
        f"ComplEx: F1 on valid {max(run.trained.scores):.3f} with one threshold; "
        f"popularity alone: {popularity(run.benchmark, 'f1'):.3f}"
    )


def _tune(decider: "Decider") -> None:
    _heading("A threshold for each relation, found on valid, decides on test")


def _evaluate(found: "Evaluation") -> None:
    from assent.reporting.decisions import decisions_grid
    from assent.reporting.rendering import terminal
    from assent.reporting.sample_queries import sample_decisions

    out.print(terminal(decisions_grid({"": found})))
    say("The surest of each of ten relations:")
    for verdict, decision in sample_decisions(found):
        say(f"  {verdict:<18} {decision}")


def _promise(decider: "Decider") -> None:
    from assent.reporting.deciders import found_line, promise_grid
    from assent.reporting.rendering import terminal

    _heading(f"New facts: each relation promises that {PRECISION:.0%} of what it accepts is right")
    out.print(terminal(promise_grid(decider.found["promise"])))
    say(found_line(decider) or "")
    say("The promise: for queries like those of valid; what the graph does not know is wrong.")


def _complete(found: "Completion") -> None:
    from assent.reporting.new_facts import completion_grid, facts_in_words, summary_lines
    from assent.reporting.rendering import terminal

    out.print(terminal(completion_grid(found, 10)))
    for line in summary_lines(found):
        say(line)
    say("Ten of them, how probable each is, and what speaks for it most:")
    for line in facts_in_words(found):
        say(line)


def _report(page: Path) -> None:
    _heading("The report")
    say(f"report: {page}")


def _heading(words: str) -> None:
    out.print(f"\n{words}", style="bold")


SHOWN: dict[str, Callable[[Any], None]] = {
    "read": _read,
    "build": _build,
    "audit": _audit,
    "train": _train,
    "tune": _tune,
    "evaluate": _evaluate,
    "promise": _promise,
    "complete": _complete,
    "report": _report,
}
