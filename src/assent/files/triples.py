"""A knowledge base from and to a file or folder, in any of the formats people keep graphs in."""

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
from assent.files.annotations import find_file, read_labels, read_types
from assent.files.atomic import beside, folder_beside
from assent.files.formats import (
    Kept,
    LeftOut,
    all_formats,
    folder_readers,
    format_of,
    readable_suffixes,
    writable_suffixes,
)
from assent.files.tsv import write_tsv

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
    kept = Kept(keep_literals, keep_blank_nodes)
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    if path.is_dir():
        frames, left = _read_folder(path, kept)
        entity_names = entity_names or find_file(path, "entity_names")
        relation_names = relation_names or find_file(path, "relation_names")
        types = types or find_file(path, "entity_types")
        schema = schema or find_file(path, "schema")
    else:
        frame, left = format_of(path).read(path, kept)
        frames = {Split.TRAIN: frame}
    source = Source(path.name or path.resolve().name, left_out=MappingProxyType(dict(left)))
    kb = _assemble(frames, source)
    vocabulary = replace(
        kb.vocabulary,
        entity_labels=read_labels(entity_names, kb.vocabulary.entities),
        relation_labels=read_labels(relation_names, kb.vocabulary.relations),
    )
    return replace(kb, vocabulary=vocabulary, types=read_types(types, schema, kb.vocabulary))


def write(kb: KnowledgeBase, path: str | Path, *, keep_rdf_terms: bool = False) -> None:
    """Writes the facts to a file, or those of a graph with splits to a folder of .tsv files.

    Into N-Triples, a name that is no IRI goes as <urn:assent:...>, percent-encoded. With
    `keep_rdf_terms`, names that read as literals or blank nodes are written as these.
    """
    path = Path(path)
    if path.suffix == "":
        _write_folder(kb, path)
        return
    if kb.has_splits:
        raise DataError(f"{path}: the graph has splits, a file has none; write it to a folder")
    form = all_formats().get(path.suffix)
    if form is None or form.write is None:
        suffixes = " ".join(writable_suffixes())
        raise DataError(f"{path}: cannot write {path.suffix}; choose from {suffixes}")
    with beside(path) as part:
        form.write(named_facts(kb.facts, kb.vocabulary), part, keep_rdf_terms)


def named_facts(facts: Ids, vocabulary: Vocabulary) -> pl.DataFrame:
    """Facts by name: head, relation, tail."""
    entities, relations = pl.Series(vocabulary.entities), pl.Series(vocabulary.relations)
    heads, rels, tails = (np.ascontiguousarray(column) for column in facts.T)
    return pl.DataFrame(
        {
            "head": entities.gather(heads),
            "relation": relations.gather(rels),
            "tail": entities.gather(tails),
        }
    )


def _read_folder(path: Path, kept: Kept) -> tuple[Frames, LeftOut]:
    markers = folder_readers()
    for marker, read_marked in markers.items():
        if (path / marker).exists():
            return read_marked(path), Counter()
    frames, all_left = {}, Counter[str]()
    for split in Split:
        file = find_file(path, split.name.lower(), readable_suffixes())
        if file is not None:
            frames[split], left = format_of(file).read(file, kept)
            all_left += left
    if Split.TRAIN not in frames:
        raise DataError(
            f"{path}: no train file; expected train with a suffix of "
            f"{' '.join(readable_suffixes())}, plain or .gz, "
            f"or a folder with {' or '.join(markers)}"
        )
    return frames, all_left


def _write_folder(kb: KnowledgeBase, path: Path) -> None:
    with folder_beside(path, may_replace=lambda _: False) as part:
        for split in Split:
            facts = kb.part(split)
            if len(facts):
                write_tsv(named_facts(facts, kb.vocabulary), part / f"{split.name.lower()}.tsv")


def _assemble(frames: Frames, source: Source) -> KnowledgeBase:
    """A knowledge base whose ids follow the names, so that the order of lines does not matter."""
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
