"""build: a benchmark of queries from a graph."""

from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from assent.building import recipe as in_memory
from assent.building import relational
from assent.building.recipe import Progress
from assent.core.benchmark import Benchmark
from assent.core.engine import Outline
from assent.core.facts import KnowledgeBase
from assent.errors import ConfigError
from assent.files import benchmarks
from assent.files.atomic import refuse_to_replace
from assent.files.engines.choosing import MEMORY, MEMORY_LIMIT, engine_for, started
from assent.files.engines.graph_tables import (
    ANNOTATIONS,
    Loading,
    facts_files,
    load_files,
    load_graph,
)
from assent.files.sparql import is_store
from assent.files.text import unpacking
from assent.reporting.progress import steps
from assent.reporting.showing import shown
from assent.verbs.read import place, read


def build(
    kb: KnowledgeBase | str | Path,
    *,
    removed: int | str | Sequence[str] = "auto",
    held_out: float = 0.12,
    deal: str = "by-fact",
    seed: int = 0,
    recipe: int = 1,
    progress: Progress | bool = True,
) -> Benchmark:
    """Builds a benchmark of queries from any graph (Appendix A.1 of the paper).

    `removed`: how many entities to take out, "auto" (so many that queries without an answer make
    a quarter), or the names of the entities. `held_out`: the share of facts to ask for, where the
    graph comes without valid and test. `deal`: "by-fact" (leak-safe) or "by-query" (the paper's).
    `recipe`: how choices are made, 1 by random streams, 2 by hashes of names, as `build_folder`.
    """
    graph = kb if isinstance(kb, KnowledgeBase) else read(kb)
    with shown(progress, steps) as told:
        return in_memory.build(
            graph,
            removed=removed,
            held_out=held_out,
            deal=deal,
            seed=seed,
            recipe=recipe,
            progress=told,
        )


def build_folder(
    kb: KnowledgeBase | str | Path,
    folder: str | Path,
    *,
    engine: str = "duckdb",
    removed: int | str | Sequence[str] = "auto",
    held_out: float = 0.12,
    deal: str = "by-fact",
    seed: int = 0,
    memory: int = MEMORY_LIMIT,
    scratch: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | bool = True,
    **reading: Any,
) -> Mapping[str, Any]:
    """Builds a benchmark into a folder without holding its facts in memory, by recipe 2.

    `engine` does the work: "duckdb" on this machine, in so many bytes of `memory`, or "spark".
    `scratch` is a folder for tables, by default that for temporary files. All else is as `build`
    and `read` take it. Facts in TSV, CSV or Parquet are read in blocks; other formats, and what a
    `type_relation` makes a type, are read into memory first. Returns what the manifest tells.
    """
    refuse_to_replace(Path(folder), benchmarks.is_benchmark, overwrite)
    in_memory.check_settings(held_out, deal, seed, relational.RECIPE)
    with (
        shown(progress, steps) as told,
        started(engine, Path(scratch) if scratch else None, memory, told) as running,
    ):
        told("reading")
        graph = _loaded(kb, running, reading)
        built = relational.build(
            graph,
            running,
            removed=removed,
            held_out=held_out,
            deal=deal,
            seed=seed,
            progress=told,
        )
        told("saving")
        benchmarks.save_streamed(built, folder, overwrite=overwrite)
    return built.origin


# Options of `read` that have a graph read as a whole.
WHOLE = ("type_relation", "subclass_relation", "predict", "query")


def _loaded(kb: KnowledgeBase | str | Path, engine: Loading, reading: Mapping[str, Any]) -> Outline:
    """The graph as tables of the engine: in blocks where its files allow that."""
    if isinstance(kb, KnowledgeBase):
        return load_graph(kb, engine)
    signature(read).bind(kb, **reading)  # complains of an option that `read` does not have
    as_whole = is_store(kb) or any(map(reading.get, WHOLE))
    files = {} if as_whole else facts_files(place(kb))
    if not files:
        return load_graph(read(kb, **reading), engine)
    options = {name: reading[name] for name in ANNOTATIONS if name in reading}
    with unpacking(reading.get("max_size")):
        return load_files(place(kb), files, engine, options)


def engine_of(source: str, engine: str | None, recipe: int | None) -> str:
    """The engine that a command uses: the one named, else by the recipe and the size of files."""
    if engine is None:
        if recipe == 1 or is_store(source):
            return MEMORY
        return engine_for(place(source))
    if engine != MEMORY and recipe == 1:
        raise ConfigError(f"engine = {engine!r} builds by recipe 2 only; recipe 1 is for {MEMORY}")
    return engine
