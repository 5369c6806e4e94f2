"""build: a benchmark of queries from a graph."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

import assent
from assent.cli.arguments import (
    Graph,
    KeepBlankNodes,
    KeepLiterals,
    KeepSameAs,
    Language,
    MaxSize,
    Memory,
    Predict,
    Scratch,
    SubclassRelation,
    TypeRelation,
    in_bytes,
)
from assent.cli.common import command, err, notes, say, show, tell
from assent.errors import ConfigError, DataError

MOST_DIGITS = 18  # of a number of entities


@command()
def build(
    kb: Graph,
    out_folder: Annotated[Path, typer.Option("--out", help="The folder for the benchmark.")],
    types: Annotated[
        Path | None,
        typer.Option(
            help="A file that says which types entities have: TSV (entity, type) or JSON (entity "
            "-> [types])."
        ),
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option(
            help="A file that says what holds of relations, so that nothing is accepted against "
            "it: TSV (relation, `domain` or `range`, type; or relation, `functional`; ...) or RDF."
        ),
    ] = None,
    entity_names: Annotated[
        Path | None, typer.Option(help="A file of readable names: TSV (entity, label) or JSON.")
    ] = None,
    relation_names: Annotated[
        Path | None, typer.Option(help="A file of readable names: TSV (relation, label) or JSON.")
    ] = None,
    removed: Annotated[
        str,
        typer.Option(
            help="How many entities to take out of the train facts, so that queries about them "
            "have no answer there; `auto`: until a quarter of the queries have none; 0: keep all."
        ),
    ] = "auto",
    removed_list: Annotated[
        Path | None, typer.Option(help="A file: take out exactly these entities, one a line.")
    ] = None,
    held_out: Annotated[
        float,
        typer.Option(
            help="The share of the facts to hold back and ask for, where the graph has no valid "
            "and test of its own."
        ),
    ] = 0.12,
    deal: Annotated[
        str,
        typer.Option(
            help="How held-out facts are dealt to valid and test, one of {deals}. by-fact: no fact "
            "is in both; by-query: as in the paper, where some are."
        ),
    ] = "by-fact",
    seed: Annotated[
        int, typer.Option(help="What is drawn at random; the same seed makes the same benchmark.")
    ] = 0,
    layout: Annotated[
        str,
        typer.Option(
            help="The files of the benchmark, one of {layouts}; published: those of FB14k-QAQ."
        ),
    ] = "assent",
    engine: Annotated[
        str | None,
        typer.Option(
            help="What builds, one of {engines}. Without it: memory, and duckdb for files of facts "
            "of more than 1 GB, which need not fit into memory."
        ),
    ] = None,
    recipe: Annotated[
        int | None,
        typer.Option(
            help="How choices are made, one of {recipes}. 2: by hashes of names, the same on every "
            "engine. Without it: 1 in memory, else 2."
        ),
    ] = None,
    memory: Memory = None,
    scratch: Scratch = None,
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
            help="For a SPARQL store: a file with the query to ask it, a SELECT of head, relation "
            "and tail, or a CONSTRUCT. Without it, all facts are read."
        ),
    ] = None,
    page: Annotated[
        int, typer.Option(help="For a SPARQL store: how many rows to ask for at once.")
    ] = 10_000,
    max_rows: Annotated[
        int, typer.Option(help="For a SPARQL store: refuse one with more rows than these.")
    ] = 50_000_000,
    max_minutes: Annotated[
        float,
        typer.Option(help="For a SPARQL store: how long to read; the same command goes on."),
    ] = 60.0,
) -> None:
    """Make a benchmark from your graph: the first step.

    Some facts are held back and asked for, so that a model can be trained on the rest, tuned on one
    part of the queries (valid), and measured on the other (test). Some queries have no answer.
    """
    from assent.files.annotations import read_list
    from assent.files.atomic import refuse_to_replace
    from assent.files.benchmarks import is_benchmark
    from assent.files.engines.choosing import MEMORY, MEMORY_LIMIT, refuse_unheard
    from assent.files.sparql import Paging, Store, is_store
    from assent.files.text import lines_of
    from assent.reporting.benchmarks import (
        benchmark_line,
        counts_grid,
        graph_line,
        origin_lines,
        queries_grid,
    )
    from assent.reporting.meanings import meanings_grid
    from assent.reporting.progress import steps
    from assent.verbs.build import engine_of

    refuse_to_replace(out_folder, is_benchmark, overwrite)
    reading: dict[str, Any] = {
        "types": types,
        "schema": schema,
        "entity_names": entity_names,
        "relation_names": relation_names,
        "language": language,
        "type_relation": type_relation or (),
        "subclass_relation": subclass_relation or (),
        "predict": predict or (),
        "keep_same_as": keep_same_as,
        "keep_literals": keep_literals,
        "keep_blank_nodes": keep_blank_nodes,
        "max_size": in_bytes(max_size),
        "query": "\n".join(lines_of(query)) if query else None,
        "paging": Paging(page, max_rows, minutes=max_minutes),
    }
    settings: dict[str, Any] = {
        "removed": read_list(removed_list) if removed_list else _number_or_auto(removed),
        "held_out": held_out,
        "deal": deal,
        "seed": seed,
    }
    chosen = engine_of(kb, engine, recipe)
    refuse_unheard(chosen, {"memory": memory, "scratch": scratch})
    if chosen != MEMORY:
        if layout != "assent":
            raise ConfigError(f"layout = {layout!r} is written by --engine {MEMORY} only")
        with steps(notes) as progress, _by_line(removed_list):
            origin = assent.build_folder(
                kb,
                out_folder,
                engine=chosen,
                memory=in_bytes(memory, "--memory") or MEMORY_LIMIT,
                scratch=scratch,
                overwrite=overwrite,
                progress=progress,
                **settings,
                **reading,
            )
        graph_told, benchmark_told = origin_lines(origin)
        say(graph_told)
        show(counts_grid(origin["counts"]["queries"]))
        say(benchmark_told)
        _say_more(origin, out_folder)
        return
    with steps(notes) as progress, _by_line(removed_list):
        progress(f"reading {Store.of(kb).url if is_store(kb) else kb}")
        graph = assent.read(
            kb, **reading, progress=lambda rows: progress(f"reading: {rows:,} rows")
        )
        benchmark = assent.build(graph, **settings, recipe=recipe or 1, progress=progress)
        progress("saving")
        assent.save(benchmark, out_folder, layout=layout, overwrite=overwrite)
    say(graph_line(graph))
    if graph.source.taken:
        show(meanings_grid(graph))
    show(queries_grid(benchmark))
    say(benchmark_line(benchmark))
    _say_more(benchmark.origin, out_folder)


@contextmanager
def _by_line(removed_list: Path | None) -> Iterator[None]:
    """Says of an entity that is no entity of the graph where it stands in the list."""
    from assent.building.removing import UnknownEntityError
    from assent.files.text import lines_of

    try:
        yield
    except UnknownEntityError as error:
        if removed_list is None:
            raise
        line = list(lines_of(removed_list)).index(error.name) + 1
        raise DataError(f"{removed_list}:{line}: {error}") from None


def _say_more(origin: Mapping[str, Any], out_folder: Path) -> None:
    """What was removed, what is odd, and where the benchmark is."""
    from assent.reporting.grid import counted

    if removed_entities := origin["counts"]["removed_entities"]:
        say(
            f"{counted(removed_entities, 'entity')} {'was' if removed_entities == 1 else 'were'} "
            "removed, so that some queries lose all answers; only the final fit of "
            "`assent complete --precision` knows them (--removed 0 keeps all)"
        )
    for warning in origin["warnings"]:
        err.print(f"warning: {warning}", style="yellow", markup=False, highlight=False)
    tell("benchmark", out_folder)


def _number_or_auto(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdecimal() or len(text) > MOST_DIGITS:
        raise ConfigError(f"removed = {text[:40]!r}; choose a number or auto")
    return int(text)
