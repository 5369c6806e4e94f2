"""explain: why a fact may be true."""

from typing import Annotated

import typer

from assent.cli.common import AtBenchmark, OnBenchmark, RunFolder, Unfinished, as_json, command, say


@command()
def explain(
    run_folder: RunFolder,
    head: Annotated[str, typer.Argument(help="An entity, by its name or label.")],
    relation: Annotated[str, typer.Argument(help="A relation, by its name or label.")],
    tail: Annotated[str, typer.Argument(help="An entity, by its name or label.")],
    most: Annotated[int, typer.Option(min=1, help="How many rules to show.")] = 5,
    on: OnBenchmark = None,
    benchmark: AtBenchmark = None,
    unfinished: Unfinished = False,
) -> None:
    """Say what speaks for a fact, and what against it.

    The fact may be known or not. Rules of the known facts speak for it; why `assent complete` would
    never accept it, by the stated schema or because there is one answer only, is said after !.
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
