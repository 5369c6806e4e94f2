"""review: a page where people decide about proposals."""

import getpass
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assent.cli.arguments import AtBenchmark, RunFolder
from assent.cli.common import command, notes, say, stopped
from assent.errors import ConfigError, DataError, TerminatedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assent.reviewing.session import Review

PORT = 8321


@command(with_json=False)
def review(
    run_folder: RunFolder,
    reviewers: Annotated[
        list[str] | None,
        typer.Option(
            "--reviewer",
            help="The name of a person who decides; may be given again: each gets an address of "
            "their own. Your user name if not given.",
        ),
    ] = None,
    precision: Annotated[
        float,
        typer.Option(
            help="The precision that you want promised; facts are shown in the order that gets "
            "there with the fewest decisions."
        ),
    ] = 0.9,
    confidence: Annotated[
        float, typer.Option(help="The probability with which that promise is kept.")
    ] = 0.95,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Which facts are drawn at random (0 if not given); fixed when the proposals are "
            "made."
        ),
    ] = None,
    export_file: Annotated[
        Path | None,
        typer.Option("--export", help="Write all labels to this .tsv file; serve no page."),
    ] = None,
    import_file: Annotated[
        Path | None,
        typer.Option(
            "--import", help="Add the labels of a file that --export wrote; serve no page."
        ),
    ] = None,
    accepted_file: Annotated[
        Path | None,
        typer.Option(
            "--accepted",
            help="Write the facts that people called right as a graph, .tsv or .nt, which "
            "`assent build` reads; serve no page.",
        ),
    ] = None,
    status: Annotated[
        bool,
        typer.Option(
            "--status",
            help="Print how many facts were decided and what is promised; serve no page.",
        ),
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace the files of --export and --accepted."),
    ] = False,
    host: Annotated[
        str, typer.Option(help="The address to listen on; by default only this machine can ask.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0: any that is free.")] = PORT,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            help="With --host: another name by which browsers reach this machine; may be given "
            "again.",
        ),
    ] = None,
    benchmark: AtBenchmark = None,
) -> None:
    """Let people decide about new facts, on a page on this machine.

    It shows each fact with its evidence, and works by keyboard. The proposals are made once, when
    the page is first opened. Every decision is on the disk, in RUN/review, before it is shown as
    done. A random sample of decisions turns the estimate of `assent complete` into a promise.
    """
    from assent.files.atomic import refuse_to_write, resolved
    from assent.reporting.progress import minutes_of_queries
    from assent.reviewing.proposals import has_proposals
    from assent.reviewing.worth import refuse_promise
    from assent.verbs.review import benchmark_of, propose
    from assent.verbs.review import review as open_review
    from assent.verbs.runs import load_run
    from assent.verbs.serve import door, serve

    refuse_promise(precision, confidence)
    if seed is not None and seed < 0:
        raise ConfigError(f"--seed {seed}: expected a whole number from 0 on")
    for path in filter(None, (export_file, accepted_file)):
        refuse_to_write(path, overwrite)
    if export_file and accepted_file and resolved(export_file) == resolved(accepted_file):
        raise ConfigError(f"{export_file}: one file cannot hold both labels and facts")
    if import_file is not None and not import_file.is_file():
        raise DataError(f"{import_file}: no such file; expected one that --export wrote")
    people = reviewers or [getpass.getuser()]
    serves = not (status or import_file or export_file or accepted_file)
    with ExitStack() as held:
        # Before proposals are made: they stay as they are, so nothing may be wrong afterwards.
        bound = held.enter_context(door(people, host, port)) if serves else None
        if benchmark is not None:
            benchmark_of(run_folder, benchmark)  # the run remembers where it is
        if not has_proposals(run_folder):
            run = load_run(run_folder, benchmark=benchmark)  # says so if there is no run
            if not serves and import_file is None:
                raise DataError(f"{run_folder}: no review has begun; `assent review` begins one")
            with minutes_of_queries(notes) as progress:
                propose(run, seed=seed or 0, progress=progress)
        opened = held.enter_context(closing(open_review(run_folder, precision, confidence)))
        if seed is not None and seed != (fixed := opened.proposals.seed):
            raise ConfigError(
                f"--seed {seed}: the proposals were made with seed {fixed}, and labels are about "
                f"these; leave --seed out, or remove {opened.labels.path.parent} to begin anew"
            )
        if bound is None:
            return _without_page(opened, export_file, import_file, accepted_file, status)
        try:
            serve(opened, people, bound, host=host, names=names or [], ready=_ready)
        except TerminatedError as stop:
            raise stopped(f"stopped; {_kept(opened)}", stop) from None
        except KeyboardInterrupt:
            pass  # the way to end it
        say(_kept(opened))


def _kept(opened: "Review") -> str:
    from assent.reporting.grid import counted

    number = len(opened.labels.current())
    are = "is" if number == 1 else "are"
    return f"{counted(number, 'decision')} {are} kept in {opened.labels.path}"


def _without_page(
    opened: "Review",
    export_file: Path | None,
    import_file: Path | None,
    accepted_file: Path | None,
    status: bool,
) -> None:
    """Reads and writes the files that are named, and says how far the review is."""
    from assent.reporting.grid import counted
    from assent.reviewing.exchange import export_labels, import_labels
    from assent.verbs.review import write_accepted

    if import_file is not None:
        found = import_labels(import_file, opened)
        say(
            f"labels: {found.added:,} added, {found.there:,} were there already, "
            f"{found.twice:,} stand in the file twice, "
            f"{found.strange:,} are about facts that are not proposed here"
        )
    if export_file is not None:
        count = export_labels(export_file, opened)
        say(f"{counted(count, 'label')}: {export_file}")
    if accepted_file is not None:
        say(f"{counted(write_accepted(opened, accepted_file), 'fact')}: {accepted_file}")
    if status:
        progress = opened.progress(opened.precision, opened.confidence)
        for line in progress.lines(opened.relation_labels()):
            say(line)


def _ready(addresses: "Mapping[str, str]") -> None:
    """Where to go; printed at once, for whoever waits for it."""
    for reviewer, address in addresses.items():
        say(f"{reviewer}: {address}")
    say("Open it in a browser. Whoever has an address decides in that name. Ctrl-C ends it.")
