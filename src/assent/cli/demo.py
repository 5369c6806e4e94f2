"""demo: every verb in order, on the built-in world graph."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assent.cli.common import command, notes, out, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assent.building.findings import Finding
    from assent.core.benchmark import Benchmark
    from assent.core.decider import Decider
    from assent.core.facts import KnowledgeBase
    from assent.experiment import Found
    from assent.measuring.evaluation import Evaluation
    from assent.reviewing.session import Review
    from assent.verbs.runs import Run

HIDDEN = 1 / 7  # of the facts: a graph that is complete has no new facts to find
PRECISION = 0.7


@command(with_json=False)
def demo(
    folder: Annotated[Path, typer.Option("--out", help="The folder for all that it makes.")] = Path(
        "assent-demo"
    ),
) -> None:
    """Show all of it in a few minutes, on a built-in graph.

    Hides a seventh of the facts, learns from the rest, finds new facts, and shows which of the
    hidden ones are among them. Then it writes a report, and names the command to review them.
    """
    from assent.experiment import experiment
    from assent.reporting.progress import watching

    with watching(notes) as watcher:
        experiment(
            "world",
            folder,
            hide=HIDDEN,
            # One thread: steps are small here, and two would wait for each other when it is busy.
            # Forty epochs of the hundred that this graph would get: a demonstration takes minutes.
            changes=["train.threads=1", "train.epochs=40"],
            precision=PRECISION,
            show=show,
            watcher=watcher,
        )


def show(verb: str, result: Any) -> None:
    """Tells what a verb returned: the new facts on the screen, the steps to them in a line each."""
    SHOWN[verb](result)


def _read(kb: "KnowledgeBase") -> None:
    from assent.reporting.benchmarks import graph_line

    _step("read", f"{graph_line(kb)}; a seventh of the facts is hidden now")


def _build(benchmark: "Benchmark") -> None:
    from assent.reporting.benchmarks import benchmark_line

    _step("build", benchmark_line(benchmark))


def _audit(findings: "Sequence[Finding]") -> None:
    from assent.reporting.benchmarks import audit_line

    _step("audit", audit_line(findings))


def _train(run: "Run") -> None:
    from assent.verbs.stopping import popularity

    _step(
        "train",
        f"ComplEx, F1 on valid {max(run.trained.scores):.3f} with one threshold; "
        f"popularity alone: {popularity(run.benchmark, 'f1'):.3f}",
    )


def _tune(decider: "Decider") -> None:
    from assent.deciding.naming import rule_name

    _step("tune", f"{rule_name(decider.rule)}, found on valid")


def _evaluate(found: "Evaluation") -> None:
    from assent.reporting.decisions import summary

    _step("evaluate", f"test queries: {' '.join(summary(found))}")


def _complete(found: "Found") -> None:
    from assent.reporting.grid import percent
    from assent.reporting.new_facts import facts_in_words

    facts, right = found.completion.accepted, int(found.right.sum())
    share = f", {percent(right / len(facts), 0)}" if len(facts) else ""
    left = f"; {found.findable:,} of them can be found" if found.findable < found.hidden else ""
    say(f"Hidden before anything else:  {found.hidden:,} facts{left}")
    say(
        f"Accepted as new:              {len(facts):,} facts, of which at least "
        f"{percent(PRECISION, 0)} are right, by estimate"
    )
    say(f"Right, for they were hidden:  {right:,} of these{share}")
    _heading("Ten of the right ones, how probable each is, and what speaks for it most")
    for line in facts_in_words(facts.take(found.right)):
        say(line)
    _heading("The worst: the surest that were not hidden (some may be true all the same)")
    for line in facts_in_words(facts.take(~found.right), 5):
        say(line)
    say("")


def _report(page: Path) -> None:
    say("All of them on one page, with how sure each is and why, and how well the run decides:")
    say(f"report: {page}")


def _review(review: "Review") -> None:
    _heading("Your turn")
    say(f"{len(review.proposals):,} proposals wait for a person to decide, on a page of their own:")
    say(f"assent review {shlex.quote(str(review.folder))}")


def _heading(words: str) -> None:
    out.print(f"\n{words}", style="bold")


def _step(verb: str, words: str) -> None:
    notes.print(f"{verb}: {words}", markup=False, highlight=False, soft_wrap=True)


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
