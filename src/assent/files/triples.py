"""A knowledge base from a file or folder, in any of the formats people keep graphs in."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import polars as pl

from assent.core.arrays import Ids
from assent.core.facts import KnowledgeBase, Source, Split
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.columns import read_columns
from assent.files.libkge import MARKER, read_libkge
from assent.files.parquet import read_parquet
from assent.files.rdf import FORMATS, Left, read_rdf
from assent.files.sides import find_side_file, read_labels, read_types

COLUMNS = ("head", "relation", "tail")
HEADERS = {
    ("head", "relation", "tail"),
    ("subject", "predicate", "object"),
    ("subject", "relation", "object"),
    ("source", "relation", "target"),
    ("h", "r", "t"),
    ("s", "p", "o"),
}
SEPARATORS = {".tsv": "\t", ".txt": "\t", ".csv": ","}
SUFFIXES = (*SEPARATORS, *FORMATS, ".parquet")

Frames = Mapping[Split, pl.DataFrame]


def read(
    path: str | Path,
    *,
    types: str | Path | None = None,
    schema: str | Path | None = None,
    entity_names: str | Path | None = None,
    relation_names: str | Path | None = None,
    keep_literals: bool = False,
    keep_blank_nodes: bool = False,
) -> KnowledgeBase:
    """Reads a graph: a file of facts, or a folder with train and perhaps valid and test.

    Readable names, types and a schema are taken from files that lie in the folder under the names
    `entity_names`, `relation_names`, `entity_types` and `schema`, or from the files given.
    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    if path.is_dir():
        frames, left = _read_folder(path, keep_literals, keep_blank_nodes)
        entity_names = entity_names or find_side_file(path, "entity_names")
        relation_names = relation_names or find_side_file(path, "relation_names")
        types = types or find_side_file(path, "entity_types")
        schema = schema or find_side_file(path, "schema")
    else:
        frame, left = _read_file(path, keep_literals, keep_blank_nodes)
        frames = {Split.TRAIN: frame}
    source = Source(path.name or path.resolve().name, left_out=MappingProxyType(dict(left)))
    kb = _assemble(frames, source)
    vocabulary = replace(
        kb.vocabulary,
        entity_labels=read_labels(entity_names, kb.vocabulary.entities),
        relation_labels=read_labels(relation_names, kb.vocabulary.relations),
    )
    return replace(kb, vocabulary=vocabulary, types=read_types(types, schema, kb.vocabulary))


def suffix_of(path: Path) -> str:
    """The suffix that says what a file holds: that before `.gz`, if it is gzipped."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    gzipped = bool(suffixes) and suffixes[-1] == ".gz"
    suffix = "".join(suffixes[-2:-1] if gzipped else suffixes[-1:])
    if suffix not in SUFFIXES or (gzipped and suffix == ".parquet"):
        found = "".join(suffixes[-2:] if gzipped else suffixes[-1:]) or "none"
        raise DataError(
            f"{path}: unknown suffix {found}; choose from {' '.join(SUFFIXES)}, "
            "all but the last also with .gz"
        )
    return suffix


def _read_file(
    path: Path, keep_literals: bool, keep_blank_nodes: bool
) -> tuple[pl.DataFrame, Left]:
    suffix = suffix_of(path)
    if suffix in FORMATS:
        return read_rdf(path, suffix, COLUMNS, keep_literals, keep_blank_nodes)
    if suffix == ".parquet":
        return read_parquet(path, COLUMNS, HEADERS), Counter()
    frame = read_columns(path, COLUMNS, SEPARATORS[suffix])
    return (_without_header(frame, path) if suffix == ".csv" else frame), Counter()


def _read_folder(path: Path, keep_literals: bool, keep_blank_nodes: bool) -> tuple[Frames, Left]:
    if (path / MARKER).exists():
        return read_libkge(path, COLUMNS), Counter()
    frames, all_left = {}, Counter[str]()
    for split in Split:
        file = find_side_file(path, split.name.lower(), SUFFIXES)
        if file is not None:
            frames[split], left = _read_file(file, keep_literals, keep_blank_nodes)
            all_left += left
    if Split.TRAIN not in frames:
        raise DataError(
            f"{path}: no train file; expected train.txt or train.tsv, or .gz of these, "
            f"or a LibKGE folder with {MARKER}"
        )
    return frames, all_left


def _without_header(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    if tuple(str(name).lower() for name in frame.row(0)) not in HEADERS:
        return frame
    if len(frame) == 1:
        raise DataError(f"{path}: nothing but a header in it; expected facts")
    return frame[1:]


def _assemble(frames: Frames, source: Source) -> KnowledgeBase:
    """Ids in the order of the names, so that the order of the lines leaves no trace."""
    frame = pl.concat(frames.values())
    entities, ends = _numbered(pl.concat([frame["head"], frame["tail"]]))
    relations, middles = _numbered(frame["relation"])
    facts = np.stack([ends[: len(frame)], middles, ends[len(frame) :]], axis=1)
    splits = np.repeat([int(split) for split in frames], [len(part) for part in frames.values()])
    vocabulary = Vocabulary(entities, relations)
    return KnowledgeBase.of_ids(vocabulary, facts, splits.astype(np.int8), source)


def _numbered(names: pl.Series) -> tuple[tuple[str, ...], Ids]:
    """The distinct names in order, and for each name its place among them."""
    # Polars' own numbers hash each name once; finding the distinct names first hashes it twice.
    codes = names.cast(pl.Categorical).to_physical().to_numpy()
    seen_at = np.full(int(codes.max()) + 1, -1)
    seen_at[codes] = np.arange(len(codes))
    used = np.flatnonzero(seen_at >= 0)
    distinct = names.gather(seen_at[used])
    order = distinct.arg_sort().to_numpy()
    places = np.empty(len(seen_at), dtype=np.int32)
    places[used[order]] = np.arange(len(used))
    return tuple(distinct.gather(order).to_list()), places[codes]
