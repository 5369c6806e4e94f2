"""ask: the answers to one query."""

from typing import TYPE_CHECKING, Annotated

import typer

from assent.cli.arguments import AtBenchmark, RunFolder, Unfinished, no_less_than
from assent.cli.common import as_json, command, notes, say

if TYPE_CHECKING:
    from assent.verbs.ask import Answer


@command()
def ask(
    run_folder: RunFolder,
    head: Annotated[
        str, typer.Argument(help="An entity, by its name or label; ? or _ to ask for it.")
    ],
    relation: Annotated[str, typer.Argument(help="A relation, by its name or label.")],
    tail: Annotated[
        str, typer.Argument(help="An entity, by its name or label; ? or _ to ask for it.")
    ] = "?",
    precision: Annotated[
        float | None,
        typer.Option(
            help="The share of the accepted facts that shall be right, as for `assent complete`. "
            "If not given: that of the newest completion; if there is none, the thresholds of "
            "`assent tune` decide."
        ),
    ] = None,
    most: Annotated[
        int,
        typer.Option(
            callback=no_less_than(0), help="How many answers to show that are not accepted."
        ),
    ] = 5,
    benchmark: AtBenchmark = None,
    unfinished: Unfinished = False,
) -> None:
    """Ask one query, and see its answers with the reasons.

    As in: assent ask run Oslo "capital of". Shows what is known, what is accepted, and what is not,
    each with its probability; it accepts what `assent complete` accepts at the same precision. Of
    an entity that `assent build` removed it says so, and which command makes a fit that knows it.
    An entity whose own name is ? or _ is written \\? or \\_, in quotes.
    """
    from assent.reporting.progress import minutes_of_queries
    from assent.verbs.ask import ask as answers_to
    from assent.verbs.runs import load_run

    run = load_run(run_folder, benchmark=benchmark, unfinished=unfinished)
    with minutes_of_queries(notes) as progress:
        found = answers_to(
            run, head, relation, tail, precision=precision, most=most, progress=progress
        )
    if as_json(found.to_json):
        return
    say(found.query)
    say(f"  known: {', '.join(label for _, label in found.known) or 'nothing'}")
    say(f"  accepted: {'nothing' if not found.accepted else ''}".rstrip())
    for answer in found.accepted:
        _say(answer)
    if found.rejected:
        say("  not accepted:")
    for answer in found.rejected:
        _say(answer)
    for note in found.notes:
        say(f"({note})")


def _say(answer: "Answer") -> None:
    """An answer, and what speaks for it most and against it."""
    why = f": {answer.why}" if answer.why else ""
    say(f"    {answer.probability:.2f}  {answer.label}{why}")
    for reason in answer.reasons[:1]:
        say(f"          + {reason.sentence}")
    for reason in answer.against:
        say(f"          - {reason.sentence}")
