"""Commands about graphs and benchmarks: build, audit, convert."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import assent
from assent.cli.common import BenchmarkFolder, app, err, out, place, say
from assent.errors import ConfigError

if TYPE_CHECKING:
    from assent.core.facts import KnowledgeBase

Graph = Annotated[
    str,
    typer.Argument(
        metavar="KB", help="A file or folder of facts, or a name that `assent data list` shows."
    ),
]
KeepLiterals = Annotated[bool, typer.Option(help="Keep RDF literals as entities.")]
KeepBlankNodes = Annotated[bool, typer.Option(help="Keep RDF blank nodes as entities.")]


@app.command()
def build(
    kb: Graph,
    out_folder: Annotated[Path, typer.Option("--out", help="Where the benchmark goes.")],
    types: Annotated[
        Path | None,
        typer.Option(help="Entity types: TSV (entity, type) or JSON (entity -> [types])."),
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(help="TSV: relation, `domain` or `range`, type.")
    ] = None,
    entity_names: Annotated[
        Path | None, typer.Option(help="Readable names: TSV (entity, label) or JSON.")
    ] = None,
    relation_names: Annotated[
        Path | None, typer.Option(help="Readable names: TSV (relation, label) or JSON.")
    ] = None,
    removed: Annotated[
        str,
        typer.Option(
            help="How many entities to remove; `auto`: a quarter of the queries lose all answers."
        ),
    ] = "auto",
    removed_list: Annotated[
        Path | None, typer.Option(help="Remove exactly these entities, one a line.")
    ] = None,
    held_out: Annotated[
        float,
        typer.Option(
            help="Share of the facts to ask for, where the graph comes without valid and test."
        ),
    ] = 0.12,
    deal: Annotated[
        str, typer.Option(help="`by-fact`: leak-safe. `by-query`: as in the paper.")
    ] = "by-fact",
    seed: Annotated[int, typer.Option(help="Same seed, same input: same bytes.")] = 0,
    layout: Annotated[
        str, typer.Option(help="`assent`, or `published`: that of FB14k-QAQ.")
    ] = "assent",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a benchmark that is there already.")
    ] = False,
    keep_literals: KeepLiterals = False,
    keep_blank_nodes: KeepBlankNodes = False,
) -> None:
    """Build a benchmark of queries from a graph."""
    from assent.files.annotations import read_list
    from assent.files.atomic import refuse_to_replace
    from assent.files.benchmarks import is_benchmark
    from assent.reporting.progress import steps
    from assent.reporting.tables import benchmark_line, graph_line, queries_table

    refuse_to_replace(out_folder, lambda old: overwrite and is_benchmark(old))
    with steps(err) as progress:
        progress(f"reading {kb}")
        graph = _graph(
            kb,
            types=types,
            schema=schema,
            entity_names=entity_names,
            relation_names=relation_names,
            keep_literals=keep_literals,
            keep_blank_nodes=keep_blank_nodes,
        )
        benchmark = assent.build(
            graph,
            removed=read_list(removed_list) if removed_list else _number_or_auto(removed),
            held_out=held_out,
            deal=deal,
            seed=seed,
            progress=progress,
        )
        progress("saving")
        assent.save(benchmark, out_folder, layout=layout, overwrite=overwrite)
    say(graph_line(graph))
    out.print(queries_table(benchmark))
    say(benchmark_line(benchmark))
    for warning in benchmark.origin["warnings"]:
        err.print(f"warning: {warning}", style="yellow", markup=False, highlight=False)
    say(f"benchmark: {out_folder}")


@app.command()
def audit(
    benchmark: BenchmarkFolder,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 1 if something is wrong, not merely skewed.")
    ] = False,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="Write the findings as JSON; `-` for standard output."),
    ] = None,
) -> None:
    """Look for leaks, collisions and contradictions in a benchmark."""
    from assent.files.atomic import beside
    from assent.reporting.tables import audit_table

    findings = assent.audit(assent.load(place(benchmark)))
    text = json.dumps([{**asdict(f), "failed": f.failed} for f in findings], indent=2)
    if json_file == Path("-"):
        print(text)
    else:
        out.print(audit_table(findings))
        if json_file is not None:
            with beside(json_file) as part:
                part.write_text(text + "\n", encoding="utf-8")
    if strict and any(finding.failed for finding in findings):
        raise typer.Exit(1)


@app.command()
def convert(
    kb: Graph,
    out_file: Annotated[
        Path,
        typer.Option(
            "--out", help="A .tsv, .nt or .parquet file; a folder for a graph with splits."
        ),
    ],
    keep_literals: KeepLiterals = False,
    keep_blank_nodes: KeepBlankNodes = False,
) -> None:
    """Write a graph in another format."""
    from assent.reporting.tables import graph_line

    graph = _graph(kb, keep_literals=keep_literals, keep_blank_nodes=keep_blank_nodes)
    assent.write(graph, out_file, keep_rdf_terms=keep_literals or keep_blank_nodes)
    say(graph_line(graph))
    say(f"facts: {out_file}")


def _graph(kb: str, **options: object) -> "KnowledgeBase":
    return assent.read(place(kb), **options)  # type: ignore[arg-type]


def _number_or_auto(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdecimal():
        raise ConfigError(f"removed = {text!r}; choose a number or auto")
    return int(text)
