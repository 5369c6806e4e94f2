"""A benchmark folder as tables of an engine, read in blocks, for its audit."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from assent.core.arrays import rows_of
from assent.core.benchmark import SPLITS
from assent.core.engine import Columns
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError
from assent.files.benchmarks import check_whole
from assent.files.engines.graph_tables import Loading
from assent.files.engines.parquet_tables import write_table
from assent.files.own_layout import (
    ENTITIES,
    MASKS,
    RELATIONS,
    TRAIN,
    TYPES,
    queries_of,
    read_manifest,
    read_names,
    read_types,
)
from assent.files.places import MANIFEST
from assent.files.tsv import blocks_of, decoded, fact_blocks, ids_of, line_of


class Known(NamedTuple):
    """The names of a benchmark, as tables to look names up in."""

    vocabulary: Vocabulary
    entities: pl.Enum
    relations: pl.Enum


def load_benchmark(folder: Path, engine: Loading) -> tuple[Vocabulary, bool, Types | None]:
    """The tables `train`, `asked` and `answers`, with a row each for a fact, a query, an answer.

    Returns the names, whether each split masks the answers of the other, and the types.
    """
    if not (folder / MANIFEST).is_file():
        raise ConfigError(f"{folder}: no {MANIFEST}; such a benchmark is audited in memory only")
    manifest = read_manifest(folder / MANIFEST)
    entities, entity_labels = read_names(folder / ENTITIES)
    relations, relation_labels = read_names(folder / RELATIONS)
    names = Vocabulary(entities, relations, entity_labels, relation_labels)
    known = Known(names, pl.Enum(entities), pl.Enum(relations))
    _take(engine, "stated", _train(folder / TRAIN, known))
    engine.keep("train", "SELECT DISTINCT head, relation, tail FROM stated")
    asked: list[Path] = []
    answers: list[Path] = []
    for part, split in enumerate(SPLITS):
        for rows, values in _queries(folder / f"{split}.tsv", known, part):
            asked.append(_written(engine, f"asked-{len(asked)}", rows))
            answers.append(_written(engine, f"answers-{len(answers)}", values))
    for name, files in (("asked", asked), ("answers", answers)):
        engine.take(f"{name}_read", files)
        engine.keep(name, f"SELECT * FROM {name}_read")
    types = read_types(folder, names, TYPES)
    check_whole(folder)
    return names, manifest[MASKS[manifest["format"]]], types


def _train(path: Path, known: Known) -> Iterator[Columns]:
    before = 0
    for frame in fact_blocks(path):

        def line(row: int, before: int = before) -> int:
            return line_of(path, before + row)

        yield {
            "head": ids_of(frame["head"], known.entities, path, line),
            "relation": ids_of(frame["relation"], known.relations, path, line),
            "tail": ids_of(frame["tail"], known.entities, path, line),
        }
        before += len(frame)


def _queries(path: Path, known: Known, part: int) -> Iterator[tuple[Columns, Columns]]:
    """Queries, and their answers, in blocks."""
    before = 0
    for content in blocks_of(path):
        lines = decoded(content, path)
        queries = queries_of(lines, path, known.vocabulary, known.entities, known.relations, before)
        before += len(lines)
        mine: Columns = {
            "part": np.full(len(queries), part, np.int8),
            "slot": queries.relations,
            "anchor": queries.anchors,
            "subset": queries.subsets,
        }
        rows = rows_of(queries.offsets)
        each = {name: column[rows] for name, column in mine.items()}
        yield {**mine, "answers": queries.num_answers}, {**each, "answer": queries.answers}


def _take(engine: Loading, name: str, blocks: Iterator[Columns]) -> None:
    files = [_written(engine, f"{name}-{place}", columns) for place, columns in enumerate(blocks)]
    engine.take(name, files)


def _written(engine: Loading, name: str, columns: Columns) -> Path:
    path = engine.scratch / f"{name}.parquet"
    write_table(columns, path)
    return path
