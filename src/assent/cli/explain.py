"""explain: why a fact may be true."""

from typing import Annotated

import typer

from assent.cli.arguments import AtBenchmark, OnBenchmark, RunFolder, Unfinished, no_less_than
from assent.cli.common import as_json, command, say


@command()
def explain(
    run_folder: RunFolder,
    head: Annotated[str, typer.Argument(help="An entity, by its name or label.")],
    relation: Annotated[str, typer.Argument(help="A relation, by its name or label.")],
    tail: Annotated[str, typer.Argument(help="An entity, by its name or label.")],
    most: Annotated[
        int, typer.Option(callback=no_less_than(1), help="Show at most so many rules.")
    ] = 5,
    on: OnBenchmark = None,
    benchmark: AtBenchmark = None,
    unfinished: Unfinished = False,
) -> None:
    """Say what speaks for a fact, and what speaks against it.

    The fact may be known or not. Lines with + are rules of the known facts that speak for it, ~ are
    similar facts, - speaks against it, and ! says why `assent complete` would never accept it.
    """
    from assent.verbs.explain import explain as find
    from assent.verbs.runs import load_run

    run = load_run(run_folder, on, benchmark=benchmark, unfinished=unfinished)
    found = find(run, head, relation, tail, most)
    if as_json(found.to_json):
        return
    say(f"{found.sentence}" + (" (known)" if found.known else ""))
    for reason in found.reasons:
        say(f"  + {reason.confidence:.2f}  {reason.sentence}")
    if not found.reasons:
        say("  by similarity alone: no rule speaks for it")
    for reason in found.nearest:
        say(f"  ~ {reason.sentence}")
    for reason in found.against:
        say(f"  - {reason.sentence}")
    for sentence in found.refused:
        say(f"  ! {sentence}")
    for note in found.notes:
        say(f"({note})")
