"""A graph as tables of an engine: from files that fit no memory, or from a graph in memory."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from assent.core.engine import Engine, Outline
from assent.core.facts import KnowledgeBase, Source, Split
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files import parquet, tsv
from assent.files.annotations import find_file
from assent.files.formats import folder_readers, readable_suffixes, suffix_of
from assent.files.kgx import is_kgx
from assent.files.triples import annotated

ANNOTATIONS = ("types", "schema", "entity_names", "relation_names")  # options of `triples.read`
PLAIN = (".tsv", ".txt", ".csv", ".parquet")  # formats in which every line is a fact


class Loading(Engine, Protocol):
    """An engine that takes files as they are."""

    scratch: Path

    def take(self, name: str, files: list[Path]) -> None:
        """Makes a table of the rows of Parquet files."""


def facts_files(path: Path) -> Mapping[Split, Path]:
    """The files of a graph that can be read block by block; none if it must be read as a whole."""
    if not path.is_dir():
        return {Split.TRAIN: path} if path.exists() and suffix_of(path) in PLAIN else {}
    if is_kgx(path) or any((path / marker).exists() for marker in folder_readers()):
        return {}
    found = {split: find_file(path, split.name.lower(), readable_suffixes()) for split in Split}
    files = {split: file for split, file in found.items() if file is not None}
    plain = Split.TRAIN in files and all(suffix_of(file) in PLAIN for file in files.values())
    return files if plain else {}


def load_files(
    path: Path, files: Mapping[Split, Path], engine: Loading, annotations: Mapping[str, Any]
) -> Outline:
    """The table `facts` from the files of a graph, block by block.

    `annotations` are files with readable names, types and a schema, as `triples.read` takes them.
    """
    written: list[Path] = []
    lines = 0
    for split, file in files.items():
        for frame in _frames(file):
            part = engine.scratch / f"named-{len(written)}.parquet"
            frame = frame.with_columns(split=pl.lit(int(split), pl.Int8))
            frame.write_parquet(part, compression="lz4")
            written.append(part)
            lines += len(frame)
    if not lines:
        raise DataError(f"{path}: nothing in it; expected facts")
    engine.take("named", written)
    ends = "SELECT head AS name FROM named UNION SELECT tail FROM named"
    entities = _names(engine, "entities", ends)
    relations = _names(engine, "relations", "SELECT DISTINCT relation AS name FROM named")
    engine.keep(
        "facts",
        """SELECT h.id AS head, r.id AS relation, t.id AS tail, min(n.split) AS split FROM named n
            JOIN entities_named h ON h.name = n.head JOIN relations_named r ON r.name = n.relation
            JOIN entities_named t ON t.name = n.tail
            GROUP BY h.id, r.id, t.id""",
    )
    engine.drop("entities_named", "relations_named")
    for part in written:
        part.unlink()
    total = engine.found("SELECT count(*) AS n, max(split) AS last FROM facts")
    num_facts = int(total["n"][0])
    source = Source(path.name or path.resolve().name, duplicates=lines - num_facts)
    vocabulary, types, schema = annotated(path, Vocabulary(entities, relations), **annotations)
    return Outline(vocabulary, num_facts, bool(total["last"][0]), source, types, schema)


def load_graph(kb: KnowledgeBase, engine: Engine) -> Outline:
    """The table `facts` from a graph in memory."""
    heads, relations, tails = kb.facts.T
    engine.put("facts", {"head": heads, "relation": relations, "tail": tails, "split": kb.splits})
    return Outline(kb.vocabulary, len(kb.facts), kb.has_splits, kb.source, kb.types, kb.schema)


def _frames(file: Path) -> Iterator[pl.DataFrame]:
    """The facts of a file, in blocks."""
    suffix = suffix_of(file)
    if suffix == ".parquet":
        return parquet.fact_blocks(file)
    return tsv.fact_blocks(file, "," if suffix == ".csv" else "\t")


def _names(engine: Loading, what: str, sql: str) -> tuple[str, ...]:
    """All names in order, which are also put into a table with their ids."""
    names: list[str] = []
    for block in engine.blocks(f"SELECT name FROM ({sql}) n ORDER BY name"):
        names.extend(block["name"].tolist())
    engine.put(
        f"{what}_named",
        {"id": np.arange(len(names), dtype=np.int32), "name": np.array(names, dtype=object)},
    )
    return tuple(names)
