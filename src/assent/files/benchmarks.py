"""A benchmark folder, in assent's own layout or in that of the published FB14k-QAQ."""

import json
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from assent.core.arrays import Ids, rows_of
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.types import Types
from assent.core.version import __version__
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError, DataError
from assent.files.columns import line_of, read_columns
from assent.files.published import looks_published, read_published, write_published
from assent.files.queries import ids_of, read_queries, write_queries
from assent.files.saving import folder_beside
from assent.files.sides import read_types
from assent.files.text import is_text, lines_of, read_json
from assent.files.writing import named_facts, write_tsv

MANIFEST = "manifest.json"
MASKS = {1: "masks_other_half", 2: "masks_other_split"}  # format of a manifest -> its key
FORMAT = max(MASKS)
OURS = ("format", "assent", *MASKS.values())  # in the manifest, beside the origin


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
    write_names(vocabulary.entities, vocabulary.entity_labels, folder / "entities.tsv")
    write_names(vocabulary.relations, vocabulary.relation_labels, folder / "relations.tsv")
    write_tsv(named_facts(benchmark.train, vocabulary), folder / "train.tsv")
    for split in ("valid", "test"):
        write_queries(benchmark.queries(split), vocabulary, folder / f"{split}.tsv")
    if benchmark.types is not None and len(benchmark.types.entity_types):
        # Types that no entity has say nothing: they are read back as none.
        _write_types(benchmark.types, vocabulary, folder)
    manifest = {
        "format": FORMAT,
        "assent": __version__,
        MASKS[FORMAT]: benchmark.masks_other_split,
        **benchmark.origin,
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8", newline="\n")


def write_names(names: tuple[str, ...], labels: tuple[str, ...], path: Path) -> None:
    """Names, one a line, and their labels where there are any."""
    columns = {"name": names, "label": labels} if labels else {"name": names}
    write_tsv(pl.DataFrame(columns), path)


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
    entities, entity_labels = read_names(folder / "entities.tsv")
    relations, relation_labels = read_names(folder / "relations.tsv")
    vocabulary = Vocabulary(entities, relations, entity_labels, relation_labels)
    types = folder / "entity_types.tsv"
    schema = folder / "schema.tsv"
    return Benchmark(
        vocabulary,
        _read_facts(folder / "train.tsv", vocabulary),
        read_queries(folder / "valid.tsv", vocabulary),
        read_queries(folder / "test.tsv", vocabulary),
        manifest[MASKS[manifest["format"]]],
        read_types(
            types if types.exists() else None, schema if schema.exists() else None, vocabulary
        ),
        MappingProxyType({key: value for key, value in manifest.items() if key not in OURS}),
    )


def _read_manifest(path: Path) -> dict[str, Any]:
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


LAYOUTS: dict[str, Callable[[Benchmark, Path], None]] = {
    "assent": _write_own,
    "published": write_published,
}
