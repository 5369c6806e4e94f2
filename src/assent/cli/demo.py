"""demo: every verb in order, on the built-in world graph."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assent.cli.common import command, err, out, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assent.building.auditing import Finding
    from assent.core.benchmark import Benchmark
    from assent.core.decider import Decider
    from assent.core.facts import KnowledgeBase
    from assent.experiment import Found
    from assent.measuring.evaluation import Evaluation
    from assent.reviewing.session import Review
    from assent.verbs.runs import Run

HIDDEN = 1 / 7  # of the facts: a graph that is complete has no new facts to find
PRECISION = 0.7


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
            hide=HIDDEN,
            # One thread: steps are small here, and two would wait for each other when it is busy.
            changes=["train.threads=1"],
            precision=PRECISION,
            show=show,
            watcher=watcher,
        )


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


def _complete(found: "Found") -> None:
    from assent.reporting.new_facts import completion_grid, facts_in_words, summary_lines
    from assent.reporting.rendering import terminal

    facts, number = found.completion.accepted, int(found.right.sum())
    _heading(f"New facts, {PRECISION:.0%} of them right by estimate")
    say(
        f"Hidden before anything else:  {found.hidden:,} facts, "
        f"{found.findable:,} of them about entities that are left in the graph"
    )
    say(f"Accepted as new:              {len(facts):,} facts")
    say(f"Right, for they were hidden:  {number:,} of these, {number / max(len(facts), 1):.0%}")
    say("\nTen of the right ones, how probable each is, and what speaks for it most:")
    for line in facts_in_words(facts.take(found.right)):
        say(line)
    say("\nThe most probable of the wrong ones, or true ones that the graph lacks:")
    for line in facts_in_words(facts.take(~found.right), 5):
        say(line)
    say("")
    out.print(terminal(completion_grid(found.completion, 10)))
    for line in summary_lines(found.completion):
        say(line)


def _report(page: Path) -> None:
    _heading("The report")
    say(f"report: {page}")


def _review(review: "Review") -> None:
    _heading("Your turn")
    say(f"{len(review.proposals):,} proposals wait for a person to decide, on a page of their own:")
    say(f"assent review {shlex.quote(str(review.folder))}")


def _heading(words: str) -> None:
    out.print(f"\n{words}", style="bold")


SHOWN: dict[str, Callable[[Any], None]] = {
    "read": _read,
    "build": _build,
    "audit": _audit,
    "train": _train,
    "tune": _tune,
    "evaluate": _evaluate,
    "complete": _complete,
    "report": _report,
    "review": _review,
}
