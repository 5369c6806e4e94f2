"""A benchmark folder, in assent's own layout or in that of the published FB14k-QAQ."""

import json
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from assent.core.arrays import frozen, offsets_of, rows_of
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.queries import Queries, Subset
from assent.core.types import Types
from assent.core.version import __version__
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError, DataError
from assent.files.columns import lines_of, read_columns
from assent.files.published import looks_published, read_published, write_published
from assent.files.saving import folder_beside
from assent.files.sides import read_types
from assent.files.writing import named_facts, write_tsv

MANIFEST = "manifest.json"
FORMAT = 1
SIDES = ("tail", "head")
SUBSETS = tuple(subset.name.lower() for subset in Subset)


def load(path: str | Path) -> Benchmark:
    """Reads a benchmark folder; its files say which layout it is in."""
    path = Path(path)
    if (path / MANIFEST).is_file():
        return _read_own(path)
    if looks_published(path):
        return read_published(path)
    raise DataError(
        f"{path}: not a benchmark; expected a folder with {MANIFEST} (made by `assent build`) "
        "or with valid_obj.txt and its kin (the layout of FB14k-QAQ)"
    )


def save(
    benchmark: Benchmark, path: str | Path, *, layout: str = "assent", overwrite: bool = False
) -> None:
    """Writes a benchmark folder, whole or not at all."""
    if layout not in LAYOUTS:
        raise ConfigError(f"unknown layout {layout!r}; choose from {', '.join(LAYOUTS)}")
    with folder_beside(Path(path), lambda old: overwrite and is_benchmark(old)) as part:
        LAYOUTS[layout](benchmark, part)


def is_benchmark(path: Path) -> bool:
    """Whether a folder holds a benchmark, and so may be replaced by one."""
    return (path / MANIFEST).is_file() or looks_published(path)


def _write_own(benchmark: Benchmark, folder: Path) -> None:
    vocabulary = benchmark.vocabulary
    _write_names(vocabulary.entities, vocabulary.entity_labels, folder / "entities.tsv")
    _write_names(vocabulary.relations, vocabulary.relation_labels, folder / "relations.tsv")
    write_tsv(named_facts(benchmark.train, vocabulary), folder / "train.tsv")
    for split in ("valid", "test"):
        _write_queries(benchmark.half(split), vocabulary, folder / f"{split}.tsv")
    if benchmark.types is not None:
        _write_types(benchmark.types, vocabulary, folder)
    manifest = {
        "format": FORMAT,
        "assent": __version__,
        "masks_other_half": benchmark.masks_other_half,
        **benchmark.origin,
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8", newline="\n")


def _write_names(names: tuple[str, ...], labels: tuple[str, ...], path: Path) -> None:
    columns = {"name": names, "label": labels} if labels else {"name": names}
    write_tsv(pl.DataFrame(columns), path)


def _write_queries(queries: Queries, vocabulary: Vocabulary, path: Path) -> None:
    """One query a line: side, anchor, relation, subset, then its answers."""
    entities, relations = pl.Series(vocabulary.entities), pl.Series(vocabulary.relations)
    sides, relation_ids = np.divmod(queries.relations, vocabulary.num_relations)
    answers = pl.DataFrame(
        {"query": rows_of(queries.offsets), "answers": entities.gather(queries.answers)}
    )
    answers = answers.group_by("query", maintain_order=True).agg(pl.col("answers").str.join("\t"))
    frame = pl.DataFrame(
        {
            "query": np.arange(len(queries)),
            "side": pl.Series(SIDES).gather(sides),
            "anchor": entities.gather(queries.anchors),
            "relation": relations.gather(relation_ids),
            "subset": pl.Series(SUBSETS).gather(queries.subsets),
        }
    ).join(answers, on="query", how="left", maintain_order="left")
    lines = frame.select(
        pl.concat_str(
            ["side", "anchor", "relation", "subset", "answers"], separator="\t", ignore_nulls=True
        )
    )
    write_tsv(lines, path)


def _write_types(types: Types, vocabulary: Vocabulary, folder: Path) -> None:
    names = pl.Series(types.names)
    entities = pl.Series(vocabulary.entities).gather(rows_of(types.entity_offsets))
    write_tsv(
        pl.DataFrame({"entity": entities, "type": names.gather(types.entity_types)}),
        folder / "entity_types.tsv",
    )
    ends, relations = np.divmod(rows_of(types.slot_offsets), vocabulary.num_relations)
    frame = pl.DataFrame(
        {
            "relation": pl.Series(vocabulary.relations).gather(relations),
            "end": pl.Series(("domain", "range")).gather(ends),
            "type": names.gather(types.slot_types),
        }
    )
    if len(frame):
        write_tsv(frame, folder / "schema.tsv")


def _read_own(folder: Path) -> Benchmark:
    manifest = _read_manifest(folder / MANIFEST)
    entities, entity_labels = _read_names(folder / "entities.tsv")
    relations, relation_labels = _read_names(folder / "relations.tsv")
    vocabulary = Vocabulary(entities, relations, entity_labels, relation_labels)
    types = folder / "entity_types.tsv"
    schema = folder / "schema.tsv"
    return Benchmark(
        vocabulary,
        _read_facts(folder / "train.tsv", vocabulary),
        _read_queries(folder / "valid.tsv", vocabulary),
        _read_queries(folder / "test.tsv", vocabulary),
        manifest["masks_other_half"],
        read_types(
            types if types.exists() else None, schema if schema.exists() else None, vocabulary
        ),
        MappingProxyType(
            {key: manifest[key] for key in manifest if key not in ("format", "assent")}
        ),
    )


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DataError(f"{path}: not a manifest of format {FORMAT}; build the benchmark anew")
    if not isinstance(manifest.get("masks_other_half"), bool):
        raise DataError(f"{path}: masks_other_half is missing; expected true or false")
    return manifest


def _read_names(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names, and their labels where there is a second column."""
    first = next(lines_of(path), "")
    columns = ("name", "label") if "\t" in first else ("name",)
    frame = read_columns(path, columns)
    twice = frame["name"].filter(frame["name"].is_duplicated())
    if len(twice):
        raise DataError(f"{path}: the name {twice[0]!r} stands twice; expected each once")
    names = tuple(frame["name"].to_list())
    return names, tuple(frame["label"].to_list()) if "label" in frame.columns else ()


def _read_facts(path: Path, vocabulary: Vocabulary) -> Any:
    frame = read_columns(path, ("head", "relation", "tail"))
    entities, relations = pl.Enum(vocabulary.entities), pl.Enum(vocabulary.relations)
    columns = [
        _ids(frame[name], kind, path)
        for name, kind in (("head", entities), ("relation", relations), ("tail", entities))
    ]
    return KnowledgeBase.of_ids(vocabulary, np.stack(columns, axis=1)).facts


def _read_queries(path: Path, vocabulary: Vocabulary) -> Queries:
    lines = pl.Series("line", list(lines_of(path)), dtype=pl.String)
    fields = lines.str.split("\t")
    short = (fields.list.len() < 4) | (lines == "")
    if short.any():
        number = int(short.arg_max() or 0) + 1
        raise DataError(
            f"{path}:{number}: expected side, anchor, relation, subset, then answers, "
            "separated by tabs"
        )
    entities, relations = pl.Enum(vocabulary.entities), pl.Enum(vocabulary.relations)
    sides = _ids(fields.list.get(0), pl.Enum(SIDES), path)
    answers = fields.list.slice(4)
    counts = answers.list.len().to_numpy()
    flat = answers.filter(answers.list.len() > 0).explode()
    rows = pl.Series(np.repeat(np.arange(len(lines)), counts))
    return Queries(
        frozen(_ids(fields.list.get(1), entities, path)),
        frozen(_ids(fields.list.get(2), relations, path) + sides * vocabulary.num_relations),
        frozen(offsets_of(counts), np.int64),
        frozen(_ids(flat, entities, path, rows)),
        frozen(_ids(fields.list.get(3), pl.Enum(SUBSETS), path)),
    )


def _ids(names: pl.Series, kind: pl.Enum, path: Path, lines: pl.Series | None = None) -> Any:
    ids = names.cast(kind, strict=False).to_physical()
    if ids.null_count():
        place = int(ids.is_null().arg_max() or 0)
        number = (place if lines is None else int(lines[place])) + 1
        known = kind.categories
        hint = f"choose from {', '.join(known)}" if len(known) < 5 else "not in the vocabulary"
        raise DataError(f"{path}:{number}: found {names[place]!r}; {hint}")
    return ids.to_numpy().astype(np.int32)


LAYOUTS: dict[str, Callable[[Benchmark, Path], None]] = {
    "assent": _write_own,
    "published": write_published,
}
