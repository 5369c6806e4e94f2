"""build: a benchmark of queries from a graph."""

from pathlib import Path
from typing import Annotated

import typer

import assent
from assent.cli.common import (
    Graph,
    KeepBlankNodes,
    KeepLiterals,
    KeepSameAs,
    Language,
    MaxSize,
    Predict,
    SubclassRelation,
    TypeRelation,
    command,
    err,
    in_bytes,
    out,
    say,
)
from assent.errors import ConfigError

MOST_DIGITS = 18  # of a number of entities


@command()
def build(
    kb: Graph,
    out_folder: Annotated[Path, typer.Option("--out", help="Where the benchmark goes.")],
    types: Annotated[
        Path | None,
        typer.Option(help="Entity types: TSV (entity, type) or JSON (entity -> [types])."),
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option(
            help="What is stated about relations and types. TSV: relation, `domain` or `range`, "
            "type; relation, `functional`; ...; or an RDF file."
        ),
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
        str, typer.Option(help="Of {deals}: by-fact is leak-safe, by-query as in the paper.")
    ] = "by-fact",
    seed: Annotated[int, typer.Option(help="Same seed, same input: same bytes.")] = 0,
    layout: Annotated[
        str, typer.Option(help="Of {layouts}: published is that of FB14k-QAQ.")
    ] = "assent",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a benchmark that is there already.")
    ] = False,
    language: Language = "en",
    type_relation: TypeRelation = None,
    subclass_relation: SubclassRelation = None,
    predict: Predict = None,
    keep_same_as: KeepSameAs = False,
    keep_literals: KeepLiterals = False,
    keep_blank_nodes: KeepBlankNodes = False,
    max_size: MaxSize = None,
    query: Annotated[
        Path | None,
        typer.Option(
            help="Of a SPARQL store (KB is sparql+http://host/path): a file with the query, "
            "SELECT of head, relation and tail, or CONSTRUCT. Without it: all facts."
        ),
    ] = None,
    page: Annotated[
        int, typer.Option(help="Rows that a SPARQL store is asked for at once.")
    ] = 10_000,
    max_rows: Annotated[
        int, typer.Option(help="The most rows that a SPARQL store may give.")
    ] = 50_000_000,
    max_minutes: Annotated[
        float,
        typer.Option(help="How long a SPARQL store may take; build again to go on from there."),
    ] = 60.0,
) -> None:
    """Build a benchmark of queries from a graph."""
    from assent.files.annotations import read_list
    from assent.files.atomic import refuse_to_replace
    from assent.files.benchmarks import is_benchmark
    from assent.files.sparql import Paging, Store, is_store
    from assent.files.text import lines_of
    from assent.reporting.benchmarks import benchmark_line, graph_line, queries_grid
    from assent.reporting.meanings import meanings_grid
    from assent.reporting.progress import steps
    from assent.reporting.rendering import terminal

    refuse_to_replace(out_folder, lambda old: overwrite and is_benchmark(old))
    with steps(err) as progress:
        progress(f"reading {Store.of(kb).url if is_store(kb) else kb}")
        graph = assent.read(
            kb,
            types=types,
            schema=schema,
            entity_names=entity_names,
            relation_names=relation_names,
            language=language,
            type_relation=type_relation or (),
            subclass_relation=subclass_relation or (),
            predict=predict or (),
            keep_same_as=keep_same_as,
            keep_literals=keep_literals,
            keep_blank_nodes=keep_blank_nodes,
            max_size=in_bytes(max_size),
            query="\n".join(lines_of(query)) if query else None,
            paging=Paging(page, max_rows, minutes=max_minutes),
            progress=lambda rows: progress(f"reading: {rows:,} rows"),
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
    if graph.source.taken:
        out.print(terminal(meanings_grid(graph)))
    out.print(terminal(queries_grid(benchmark)))
    say(benchmark_line(benchmark))
    if removed_entities := benchmark.origin["counts"]["removed_entities"]:
        say(
            f"{removed_entities:,} entities were removed, so that some queries lose all answers; "
            "only the final fit of `assent complete --precision` knows them (--removed 0 keeps all)"
        )
    for warning in benchmark.origin["warnings"]:
        err.print(f"warning: {warning}", style="yellow", markup=False, highlight=False)
    say(f"benchmark: {out_folder}")


def _number_or_auto(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdecimal() or len(text) > MOST_DIGITS:
        raise ConfigError(f"removed = {text[:40]!r}; choose a number or auto")
    return int(text)
