"""The layout of assent's own benchmark folders: tables of names, facts, queries and types.

A query is a line: side, anchor, relation, subset, then its answers.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from assent.core.arrays import Ids, frozen, offsets_of, rows_of
from assent.core.benchmark import SPLITS, Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.queries import Queries, Subset
from assent.core.schema import ENDS, NOTHING_STATED
from assent.core.streamed import Removed, Streamed
from assent.core.types import Types
from assent.core.version import __version__
from assent.core.vocabulary import SIDES, Vocabulary
from assent.errors import DataError
from assent.files.annotations import read_entity_types
from assent.files.places import MANIFEST
from assent.files.published import refuse_twice
from assent.files.schemas import read_schema, typed, write_schema
from assent.files.text import is_text, lines_of, read_json
from assent.files.triples import named_columns
from assent.files.tsv import ids_of, line_of, read_columns, write_blocks, write_tsv

ENTITIES, RELATIONS, TRAIN = "entities.tsv", "relations.tsv", "train.tsv"
TYPES, SCHEMA = "entity_types.tsv", "schema.tsv"
STATED = "stated.tsv"  # older benchmarks have none
# What building removed; benchmarks in which it removed nothing, and older ones, have none of these.
REMOVED, REMOVED_FACTS, REMOVED_TYPES = (
    "removed_entities.tsv",
    "removed_facts.tsv",
    "removed_types.tsv",
)
MASKS = {1: "masks_other_half", 2: "masks_other_split"}  # format of a manifest -> its key
FORMAT = max(MASKS)
OPTIONAL = (TYPES, SCHEMA, STATED, REMOVED, REMOVED_FACTS, REMOVED_TYPES)
OURS = ("format", "assent", *MASKS.values())  # in the manifest, beside the origin
SUBSETS = tuple(subset.name.lower() for subset in Subset)


def write_names(names: tuple[str, ...], labels: tuple[str, ...], path: Path) -> None:
    """Names, one a line, and their labels where there are any."""
    columns = {"name": names, "label": labels} if labels else {"name": names}
    write_tsv(pl.DataFrame(columns), path)


def read_names(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names, and their labels where there is a second column."""
    first = next(lines_of(path), "")
    columns = ("name", "label") if "\t" in first else ("name",)
    frame = read_columns(path, columns)
    for row in (~frame["name"].is_first_distinct()).arg_true().head(1):
        raise DataError(
            f"{path}:{line_of(path, row)}: the name {frame['name'][row]!r} stands twice; "
            "expected each once"
        )
    names = tuple(frame["name"].to_list())
    return names, tuple(frame["label"].to_list()) if "label" in frame.columns else ()


def looks_ours(folder: Path) -> bool:
    return (folder / MANIFEST).is_file()


def write_own(benchmark: Benchmark, folder: Path) -> None:
    origin = benchmark.origin
    if miscounted(benchmark):  # counts of the benchmark that this one was made from
        origin = {key: value for key, value in origin.items() if key != "counts"}
    write_streamed(replace(Streamed.of(benchmark), origin=origin), folder)


def write_streamed(benchmark: Streamed, folder: Path) -> None:
    """Writes all files of assent's own layout, block by block."""
    vocabulary = benchmark.vocabulary
    write_names(vocabulary.entities, vocabulary.entity_labels, folder / ENTITIES)
    write_names(vocabulary.relations, vocabulary.relation_labels, folder / RELATIONS)
    _write_facts(benchmark.train(), vocabulary, folder / TRAIN)
    for split in SPLITS:
        _write_queries(benchmark.queries[split](), vocabulary, folder / f"{split}.tsv")
    if benchmark.types is not None and len(benchmark.types.entity_types):
        # Types that no entity has say nothing: they are read back as none.
        _write_types(benchmark.types, vocabulary, folder)
    if benchmark.schema:
        write_schema(benchmark.schema, folder / STATED)
    if benchmark.removed is not None:
        _write_removed(benchmark.removed, vocabulary.num_entities, folder)
    manifest = {
        "format": FORMAT,
        "assent": __version__,
        MASKS[FORMAT]: benchmark.masks_other_split,
        **benchmark.origin,
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8", newline="\n")


def _write_facts(blocks: Iterable[Ids], vocabulary: Vocabulary, path: Path) -> None:
    names = pl.Series(vocabulary.entities), pl.Series(vocabulary.relations)
    write_blocks((named_columns(block, *names) for block in blocks), path)


def _write_queries(blocks: Iterable[Queries], vocabulary: Vocabulary, path: Path) -> None:
    names = pl.Series(vocabulary.entities), pl.Series(vocabulary.relations)
    write_blocks((_query_lines(block, vocabulary, *names) for block in blocks), path)


def _query_lines(
    queries: Queries, vocabulary: Vocabulary, entities: pl.Series, relations: pl.Series
) -> pl.DataFrame:
    answers = pl.DataFrame(
        {"query": rows_of(queries.offsets), "answers": entities.gather(queries.answers)}
    )
    answers = answers.group_by("query", maintain_order=True).agg(pl.col("answers").str.join("\t"))
    sides = vocabulary.asks_for_head(queries.relations).astype(np.int32)
    frame = pl.DataFrame(
        {
            "query": np.arange(len(queries)),
            "side": pl.Series(SIDES).gather(sides),
            "anchor": entities.gather(queries.anchors),
            "relation": relations.gather(vocabulary.relations_of(queries.relations)),
            "subset": pl.Series(SUBSETS).gather(queries.subsets),
        }
    ).join(answers, on="query", how="left", maintain_order="left")
    return frame.select(
        pl.concat_str(
            ["side", "anchor", "relation", "subset", "answers"], separator="\t", ignore_nulls=True
        )
    )


def _write_types(types: Types, vocabulary: Vocabulary, folder: Path) -> None:
    names = pl.Series(types.names)
    _write_entity_types(types, 0, vocabulary, folder / TYPES)
    slots = rows_of(types.slot_offsets)
    ends = vocabulary.asks_for_head(slots).astype(np.int32)
    frame = pl.DataFrame(
        {
            "relation": pl.Series(vocabulary.relations).gather(vocabulary.relations_of(slots)),
            "end": pl.Series(ENDS).gather(ends),
            "type": names.gather(types.slot_types),
        }
    )
    if len(frame):
        write_tsv(frame, folder / SCHEMA)


def _write_entity_types(types: Types, first: int, vocabulary: Vocabulary, path: Path) -> None:
    """The types of all entities from this one on."""
    entities = rows_of(types.entity_offsets)
    mine = entities >= first
    frame = {
        "entity": pl.Series(vocabulary.entities).gather(entities[mine]),
        "type": pl.Series(types.names).gather(types.entity_types[mine]),
    }
    write_tsv(pl.DataFrame(frame), path)


def _write_removed(removed: Removed, kept: int, folder: Path) -> None:
    """The removed entities, their types, and the facts about them."""
    names, types = removed.vocabulary, removed.types
    write_names(names.entities[kept:], names.entity_labels[kept:], folder / REMOVED)
    _write_facts(removed.facts(), names, folder / REMOVED_FACTS)
    if types is not None and types.entity_offsets[kept] < len(types.entity_types):
        _write_entity_types(types, kept, names, folder / REMOVED_TYPES)


def _read_removed(folder: Path, mine: Vocabulary) -> KnowledgeBase | None:
    """`mine` are the names of the entities that were not removed."""
    both = folder / REMOVED, folder / REMOVED_FACTS
    if not any(path.exists() for path in both):
        return None
    for path, other in (both, both[::-1]):
        if not path.exists():
            raise DataError(f"{path}: not there, but {other.name} is; put it back, or build anew")
    entities, labels = read_names(folder / REMOVED)
    if twice := {*entities} & {*mine.entities}:
        raise DataError(f"{folder / REMOVED}: {min(twice)!r} is in entities.tsv too")
    if labels or mine.entity_labels:
        labels = (*(mine.entity_labels or mine.entities), *(labels or entities))
    names = Vocabulary((*mine.entities, *entities), mine.relations, labels, mine.relation_labels)
    facts = _read_facts(folder / REMOVED_FACTS, names)
    return KnowledgeBase.of_ids(names, facts, types=read_types(folder, names, TYPES, REMOVED_TYPES))


def read_own(folder: Path) -> Benchmark:
    manifest = read_manifest(folder / MANIFEST)
    entities, entity_labels = read_names(folder / ENTITIES)
    relations, relation_labels = read_names(folder / RELATIONS)
    vocabulary = Vocabulary(entities, relations, entity_labels, relation_labels)
    schema = folder / STATED
    benchmark = Benchmark(
        vocabulary,
        _read_facts(folder / TRAIN, vocabulary),
        _read_queries(folder / "valid.tsv", vocabulary),
        _read_queries(folder / "test.tsv", vocabulary),
        manifest[MASKS[manifest["format"]]],
        read_types(folder, vocabulary, TYPES),
        MappingProxyType({key: value for key, value in manifest.items() if key not in OURS}),
        read_schema(schema) if schema.exists() else NOTHING_STATED,
    )
    return replace(benchmark, removed=_read_removed(folder, vocabulary))


def miscounted(benchmark: Benchmark) -> list[tuple[str, int, int]]:
    """What is not as often there as the manifest says: what, how often it says, how often it is."""
    counts = benchmark.origin.get("counts")
    if not isinstance(counts, dict):
        return []
    names, queries = benchmark.vocabulary, counts.get("queries")
    found: list[tuple[str, Any, int]] = [
        ("entities", counts.get("entities"), names.num_entities),
        ("relations", counts.get("relations"), names.num_relations),
        ("train facts", counts.get("train_facts"), len(benchmark.train)),
    ]
    for split in SPLITS:
        asked = benchmark.queries(split)
        for kind, subset in (("C", Subset.COMPLETE), ("I", Subset.INCOMPLETE), ("F", Subset.FAKE)):
            row = queries.get(kind) if isinstance(queries, dict) else None
            number = int(np.sum(asked.subsets == subset))
            stated = row.get(split) if isinstance(row, dict) else None
            found.append((f"{subset.name.lower()} queries in {split}", stated, number))
    return [row for row in found if type(row[1]) is int and row[1] != row[2]]


def read_types(folder: Path, vocabulary: Vocabulary, *names: str) -> Types | None:
    """The types of entities that files of these names have, if there are such files."""
    tables = [folder / name for name in names if (folder / name).exists()]
    if not tables:
        return None
    rows = pl.concat([read_entity_types(table, vocabulary) for table in tables])
    schema = folder / SCHEMA
    return typed(rows, read_schema(schema) if schema.exists() else NOTHING_STATED, vocabulary)


def read_manifest(path: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = read_json(path)
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if type(found) is not int or found not in MASKS:
        formats = " or ".join(map(str, MASKS))
        raise DataError(f"{path}: not a manifest of format {formats}; build the benchmark anew")
    if not isinstance(manifest.get(MASKS[found]), bool):
        raise DataError(f"{path}: {MASKS[found]} is missing; expected true or false")
    if not is_text(json.dumps(manifest, ensure_ascii=False)):
        raise DataError(f"{path}: holds half a character; expected text")
    return manifest


def _read_facts(path: Path, vocabulary: Vocabulary) -> Ids:
    frame = read_columns(path, ("head", "relation", "tail"))
    columns = [
        ids_of(frame[name], known, path, lambda row: line_of(path, row))
        for name, known in (
            ("head", vocabulary.entities),
            ("relation", vocabulary.relations),
            ("tail", vocabulary.entities),
        )
    ]
    return KnowledgeBase.of_ids(vocabulary, np.stack(columns, axis=1)).facts


def _read_queries(path: Path, vocabulary: Vocabulary) -> Queries:
    """Queries in the order of their lines; a wrong line is refused by its number."""
    return queries_of(
        list(lines_of(path)), path, vocabulary, vocabulary.entities, vocabulary.relations
    )


def queries_of(
    lines: list[str],
    path: Path,
    vocabulary: Vocabulary,
    entities: tuple[str, ...] | pl.Enum,
    relations_known: tuple[str, ...] | pl.Enum,
    before: int = 0,
) -> Queries:
    """The queries of lines of a file, `before` which there were so many others."""
    fields = pl.Series(lines, dtype=pl.String).str.split("\t")

    def line(place: int) -> int:
        return before + place + 1

    def refuse(wrong: pl.Series, reason: str) -> None:
        """Refuses the first line that is wrong."""
        for row in wrong.arg_true().head(1):
            raise DataError(f"{path}:{line(row)}: {reason}")

    refuse(
        fields.list.len() < 4,
        "expected side, anchor, relation, subset, then answers, separated by tabs",
    )
    sides, anchors, relations, subsets = (fields.list.get(place) for place in range(4))
    answers = fields.list.slice(4)
    counts = answers.list.len()
    rows = np.repeat(np.arange(len(fields)), counts)
    flat = answers.filter(counts > 0).explode()
    queries = Queries(
        frozen(ids_of(anchors, entities, path, line)),
        vocabulary.slots_at(
            ids_of(relations, relations_known, path, line), ids_of(sides, SIDES, path, line)
        ),
        frozen(offsets_of(counts), np.int64),
        frozen(ids_of(flat, entities, path, lambda place: line(int(rows[place])))),
        frozen(ids_of(subsets, SUBSETS, path, line)),
    )
    for row in (answers.list.n_unique() < counts).arg_true().head(1):
        refuse_twice(answers[row].to_list(), f"{path}:{line(row)}")
    refuse(
        (subsets == "complete") & (counts == 0),
        "a complete query without answers; expected one at least",
    )
    refuse((subsets == "fake") & (counts > 0), "a fake query with answers; expected none")
    return queries
