"""The command complete: new facts, from every query that the graph may ask."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assent.cli.arguments import AtBenchmark, RunFolder, Unfinished
from assent.cli.common import command, notes, say, show, tell
from assent.cli.together import Workers, is_first, refuse_alone, together
from assent.errors import ConfigError, StoppedError

if TYPE_CHECKING:
    from assent.verbs.runs import Run

OF_A_PART = {  # what a part has a use for
    *("run_folder", "part", "refit", "relations", "functional", "symmetric"),
    *("benchmark", "unfinished", "quiet", "json"),
}


@command()
def complete(
    context: typer.Context,
    run_folder: RunFolder,
    out_file: Annotated[
        str | None,
        typer.Option(
            "--out",
            help="Where accepted facts go: a file that ends in one of {fact_files}, or a SPARQL "
            "store that takes updates (sparql+http://host/path). NEW.kgx is a pair of files, "
            "NEW_nodes.tsv and NEW_edges.tsv.",
        ),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            help="The share of the accepted facts that shall be right, as in 0.9; without it, the "
            "thresholds of `assent tune` decide."
        ),
    ] = None,
    over: Annotated[
        str,
        typer.Option(
            help="What --precision is estimated on. asked: all queries that the graph may ask, by "
            "a rehearsal with facts held out; valid: the queries of valid, with --confidence."
        ),
    ] = "asked",
    missing: Annotated[
        float | None,
        typer.Option(
            help="Over asked: what a relation may lack is estimated, but never more than so many "
            "facts for each one held out (2)."
        ),
    ] = None,
    reviewed: Annotated[
        bool,
        typer.Option(
            "--reviewed",
            help="Accept the facts of which the labels of `assent review` promise --precision, "
            "with --confidence; no new queries are asked.",
        ),
    ] = False,
    refit: Annotated[
        bool | None,
        typer.Option(
            "--refit/--no-refit",
            help="Whether to train once more first, on all facts, those included that `assent "
            "build` held out or took out; it finds more. If neither is given: if that takes ten "
            "minutes at most.",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="For --over valid and --reviewed: the probability with which the precision is "
            "kept; 0.95 if not given."
        ),
    ] = None,
    review_file: Annotated[
        Path | None,
        typer.Option(
            "--review",
            help="A second file, for the facts that are not sure enough, for a person to look at.",
        ),
    ] = None,
    review_above: Annotated[
        float | None,
        typer.Option(
            help="How probable a fact in the file of --review is, at least; 0.5 if not given."
        ),
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option(help="The named graph to write to, in a SPARQL store or a .trig file."),
    ] = None,
    triple_terms: Annotated[
        bool,
        typer.Option(
            "--triple-terms",
            help="In .ttl and .trig, say how sure a fact is by RDF 1.2 triple terms, not by "
            "rdf:Statement.",
        ),
    ] = False,
    spreadsheet_safe: Annotated[
        bool,
        typer.Option(
            "--spreadsheet-safe",
            help="In .tsv, put ' before what begins with = + - @, which a spreadsheet would run.",
        ),
    ] = False,
    part: Annotated[
        str | None,
        typer.Option(
            help="Share the work among processes or machines: 3/8 asks the queries of every eighth "
            "relation, from the third on, and keeps what they gave in the run's folder. When all "
            "parts are there, complete without it."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace files that are there already.")
    ] = False,
    refused_file: Annotated[
        Path | None,
        typer.Option(
            "--refused",
            help="A .tsv file for facts that would be accepted but contradict the stated schema.",
        ),
    ] = None,
    relations: Annotated[
        list[str] | None,
        typer.Option(
            "--relations",
            help="Complete these relations only: names, labels or last parts of addresses, with "
            "commas between them; may be given again.",
        ),
    ] = None,
    anchors_file: Annotated[
        Path | None,
        typer.Option(
            "--anchors",
            help="A file of entities, a name or label a line: ask about these only.",
        ),
    ] = None,
    max_facts: Annotated[
        int | None,
        typer.Option(help="Write at most so many facts to each file: the most probable."),
    ] = None,
    functional: Annotated[
        bool,
        typer.Option(
            "--functional/--no-functional",
            help="Where every query of a relation has one answer in the graph, accept no second "
            "one. What the schema states holds either way.",
        ),
    ] = True,
    symmetric: Annotated[
        bool,
        typer.Option(
            "--symmetric/--no-symmetric",
            help="Where a relation holds both ways in the graph, accept facts with their reverse. "
            "What the schema states holds either way.",
        ),
    ] = True,
    entailed: Annotated[
        bool,
        typer.Option(
            "--entailed/--no-entailed",
            help="Accept what the stated schema entails from known facts: reverses of symmetric "
            "relations, inverses, wider relations, transitive ones.",
        ),
    ] = True,
    benchmark: AtBenchmark = None,
    unfinished: Unfinished = False,
    workers: Workers = 1,
) -> None:
    """Find new facts, and accept those that are sure enough.

    Asks every query that the graph may ask. With --precision, it estimates how many of the accepted
    facts are right; without it, the thresholds of `assent tune` decide. The facts also stay in the
    run's folder, for `assent report`, unless --relations, --anchors or --max-facts are given.
    """
    from assent.completing.asking import entities_named, relations_named
    from assent.completing.by_fact import refuse_impossible
    from assent.completing.completing import Wanted
    from assent.files.annotations import read_list
    from assent.files.atomic import together as all_at_once
    from assent.files.destinations import Destinations
    from assent.files.places import NAMING
    from assent.files.provenance import About, refuse_graph
    from assent.reporting.grid import counted
    from assent.reporting.new_facts import completion_grid, contents, summary_lines
    from assent.reporting.progress import minutes_of_queries
    from assent.training.interrupts import Interrupts
    from assent.verbs.complete import complete as run_completion
    from assent.verbs.completions import keep_completion
    from assent.verbs.deciders import rule_of
    from assent.verbs.runs import load_run

    refuse_alone(context, workers)
    if part is not None:
        _refuse_for_a_part(context)
        return _prepare(
            run_folder, part, refit, relations, functional, symmetric, benchmark, unfinished
        )
    if out_file is None:
        raise ConfigError("give --out, the file that accepted facts go to")
    if review_above is not None and review_file is None:
        raise ConfigError("--review-above: belongs to --review, a file for facts to look at")
    review_above = 0.5 if review_above is None else review_above
    if graph is not None:
        refuse_graph(graph)
    options = {
        "--graph": graph is not None,
        "--triple-terms": triple_terms,
        "--spreadsheet-safe": spreadsheet_safe,
    }
    to = Destinations(out_file, None if review_file is None else str(review_file), refused_file)
    wanted = [option for option, given in options.items() if given]
    to.refuse_unfit(wanted, overwrite, run_folder / NAMING)
    anchors = read_list(anchors_file) if anchors_file else None
    with together(context, workers):
        run = load_run(run_folder, benchmark=benchmark, unfinished=unfinished)
        if anchors is not None:
            names = run.benchmark.whole().vocabulary
            anchors = [names.entities[place] for place in entities_named(anchors, names)]
        to.refuse_names(run.benchmark.vocabulary)
        if precision is not None and not reviewed and rule_of(run_folder) == "judge":
            say("the judge that the run was tuned with is not asked; model and rules decide")
        if precision is not None and over == "asked" and not reviewed:
            refuse_impossible(precision, 1.0 if missing is None else missing)
            relations_named(relations, run.benchmark.vocabulary)
            Wanted(max_facts=max_facts, review_above=review_above)
            refit = _fitted_again(run, refit)
        with Interrupts() as interrupts, minutes_of_queries(notes) as progress:
            found = run_completion(
                run,
                precision,
                over=over,
                missing=missing,
                confidence=confidence,
                refit=refit,
                reviewed=reviewed,
                review_above=None if review_file is None else review_above,
                relations=relations,
                anchors=anchors,
                max_facts=max_facts,
                functional=functional,
                symmetric=symmetric,
                entailed=entailed,
                progress=progress,
                telling=lambda work: notes.print(work, markup=False, highlight=False),
                stopping=lambda: interrupts.wanted is not None,
            )
        if not found.finished and precision is not None and over == "asked":
            said = "stopped; what was asked so far is kept, and the same command goes on from there"
            raise StoppedError(said if is_first() else "", interrupts.wanted)
        if not is_first():  # of several processes, one writes and tells
            return
        to = replace(to, is_partial=not found.finished)
        about = About(
            str(run_folder),
            run.settings.name,
            datetime.now(UTC),
            graph or "",
            triple_terms,
            found.reviewed.reviewers if found.reviewed else (),
            found.confirmed_by,
            spreadsheet_safe,
            run.benchmark.has_rdf_terms,
        )
        kinds = (found.accepted, found.review)
        whole = relations is None and anchors is None and max_facts is None
        with all_at_once(run_folder / NAMING) as files:
            to.write(kinds, about, files)
            to.write_refused(found.refused.facts, found.refused.words(), about, files)
            if found.finished and whole:
                keep_completion(found, run, run_folder, files)
            to.send(kinds, about)
        show(completion_grid(found))
        for line in summary_lines(found):
            say(line)
        places = to.in_words(about)
        for what, place, facts in zip(("accepted", "to review"), places, kinds, strict=False):
            tell(what, place, contents(facts))
        if refused_file is not None:
            tell("refused", refused_file)
        if found.finished and not whole:
            say("a part of the graph: what the run's folder keeps for reports stays as it was")
        if not found.finished:
            done = f"{len(found.outcomes):,} of {counted(found.relations, 'relation')}"
            raise StoppedError(
                f"stopped; {' and '.join(places)} have what {done} gave", interrupts.wanted
            )


def _refuse_for_a_part(context: typer.Context) -> None:
    """Refuses the options that a part has no use for: it asks, and neither decides nor writes."""
    given = [
        "/".join((*option.opts, *option.secondary_opts))
        for option in context.command.params
        if option.name not in OF_A_PART
        and (source := context.get_parameter_source(str(option.name)))
        and source.name == "COMMANDLINE"
    ]
    if given:
        raise ConfigError(
            f"--part asks, and neither decides nor writes facts: leave out {', '.join(given)}; "
            "complete without --part when all are there"
        )


def _prepare(
    run_folder: Path,
    part: str,
    refit: bool | None,
    relations: list[str] | None,
    functional: bool,
    symmetric: bool,
    benchmark: str | None,
    unfinished: bool,
) -> None:
    """Asks a part of the queries, and keeps what they gave."""
    from assent.reporting.progress import minutes_of_queries
    from assent.training.interrupts import Interrupts
    from assent.verbs.complete import prepare, refuse_part
    from assent.verbs.runs import load_run

    number, _, count = part.partition("/")
    if not (number.isdecimal() and count.isdecimal()):
        raise ConfigError(f"part {part!r}; expected a number and how many there are, such as 3/8")
    refuse_part(int(number), int(count))
    run = load_run(run_folder, benchmark=benchmark, unfinished=unfinished)
    refit = _fitted_again(run, refit)
    with Interrupts() as interrupts, minutes_of_queries(notes) as progress:
        done = prepare(
            run,
            (int(number), int(count)),
            refit=refit,
            relations=relations,
            functional=functional,
            symmetric=symmetric,
            progress=progress,
            stopping=lambda: interrupts.wanted is not None,
        )
    if not done:
        raise StoppedError("stopped; the same command goes on from there", interrupts.wanted)
    say(f"part {part} is kept in {run_folder}")


def _fitted_again(run: "Run", wanted: bool | None) -> bool:
    """Trains on all facts, if it is wanted or takes little time; says what it takes."""
    from assent.files.runs import WEIGHTS
    from assent.reporting.progress import watching
    from assent.verbs.complete import REFIT_MINUTES
    from assent.verbs.refit import REFIT, refit, refit_minutes

    if wanted is not False and run.folder and (run.folder / REFIT / WEIGHTS).exists():
        refit(run)  # takes up what is there
        return True
    minutes = refit_minutes(run)
    takes = f"about {minutes:.0f} min" if minutes >= 1 else f"about {60 * minutes:.0f} s"
    if wanted is None and minutes > REFIT_MINUTES:
        say(f"--refit would train once more on all facts first ({takes}), and find more facts")
    if not (minutes <= REFIT_MINUTES if wanted is None else wanted):
        return False
    say(f"training on all facts, {takes}; --no-refit leaves it out")
    with watching(notes) as watcher:
        refit(run, watcher)
    return True
