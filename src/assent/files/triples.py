"""A knowledge base from and to a file or folder, in any of the formats people keep graphs in."""

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType

import numpy as np
import polars as pl

from assent.core.arrays import Ids, rows_of
from assent.core.facts import KnowledgeBase, Source, Split
from assent.core.schema import ENDS, Schema
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.annotations import (
    SUFFIXES,
    find_file,
    find_labels,
    read_entity_types,
    read_labels,
)
from assent.files.atomic import beside, folder_beside
from assent.files.formats import (
    Kept,
    Label,
    Parsed,
    Triple,
    all_formats,
    folder_readers,
    format_of,
    readable_suffixes,
    writable_suffixes,
)
from assent.files.kgx import is_kgx, read_kgx
from assent.files.meaning import (
    NAMES,
    NOTHING_TOLD,
    TYPE,
    USUAL,
    Frames,
    Taking,
    Told,
    stated_in,
    understood,
)
from assent.files.ontology import rdf_of
from assent.files.schemas import read_schema, typed
from assent.files.tsv import write_tsv


def read(
    path: str | Path,
    *,
    types: str | Path | None = None,
    schema: str | Path | None = None,
    entity_names: str | Path | None = None,
    relation_names: str | Path | None = None,
    language: Sequence[str] = ("en",),
    type_relation: Sequence[str] = (),
    subclass_relation: Sequence[str] = (),
    predict: Sequence[str] = (),
    keep_same_as: bool = False,
    keep_literals: bool = False,
    keep_blank_nodes: bool = False,
) -> KnowledgeBase:
    """Reads a graph: a file of facts, or a folder with train and perhaps valid and test.

    Readable names, types and a schema are taken from files that lie in the folder under the names
    `entity_names`, `relation_names`, `entity_types` and `schema`, or from the files given, and
    from the graph itself where it is RDF or KGX.
    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    taking = Taking(
        tuple(language),
        tuple(type_relation),
        tuple(subclass_relation),
        tuple(predict),
        keep_same_as,
    )
    parts: Mapping[Split, Parsed] = {}
    frames: Frames
    if is_kgx(path):
        frame, told = read_kgx(path)
        frames = {Split.TRAIN: frame}
    else:
        parts = _parsed(path, Kept(keep_literals, keep_blank_nodes))
        frames, told = understood(parts, taking, str(path))
    left = sum((part.left_out for part in parts.values()), Counter[str]())
    name = path.name or path.resolve().name
    kept = keep_literals or keep_blank_nodes
    source = Source(
        name,
        told.repeated,
        left_out=MappingProxyType(dict(left)),
        taken=told.taken,
        rdf_terms=kept and bool(parts) and all(part.is_rdf for part in parts.values()),
    )
    kb = _assemble(frames, source)
    vocabulary, found, schema_told = annotated(
        path,
        kb.vocabulary,
        types=types,
        schema=schema,
        entity_names=entity_names,
        relation_names=relation_names,
        told=told,
        taking=taking,
    )
    return replace(kb, vocabulary=vocabulary, types=found, schema=schema_told)


def annotated(
    path: Path,
    names: Vocabulary,
    *,
    types: str | Path | None = None,
    schema: str | Path | None = None,
    entity_names: str | Path | None = None,
    relation_names: str | Path | None = None,
    told: Told = NOTHING_TOLD,
    taking: Taking = USUAL,
) -> tuple[Vocabulary, Types | None, Schema]:
    """Labels, types and schema for these names: from files given, those of the folder, the graph.

    `told` is what the graph itself tells.
    """
    if path.is_dir():
        entity_names = entity_names or find_labels(path, "entity", taking.language)
        relation_names = relation_names or find_labels(path, "relation", taking.language)
        types = types or find_file(path, "entity_types")
        schema = schema or find_file(path, "schema", {*SUFFIXES, *readable_suffixes()})
    if schema is not None:
        before, told = told.schema, _with_schema(told, Path(schema), taking)
        _warn_of_strangers(Path(schema), before, told.schema, names)
    vocabulary = replace(
        names,
        entity_labels=_labels(entity_names, names.entities, told),
        relation_labels=_labels(relation_names, names.relations, told),
    )
    rows = told.types
    if types is not None:
        rows = pl.concat([rows, read_entity_types(Path(types), vocabulary)])
    found = typed(rows, told.schema, vocabulary)
    if found is None and schema is not None and any(told.schema.about(*ENDS)):
        raise DataError(f"{schema}: a schema without types; give the entities' types as well")
    return vocabulary, found, told.schema


def write(kb: KnowledgeBase, path: str | Path, *, keep_rdf_terms: bool = False) -> None:
    """Writes the facts to a file, or those of a graph with splits to a folder of .tsv files.

    Into N-Triples, a name that is no IRI goes as <urn:assent:...>, percent-encoded. With
    `keep_rdf_terms`, names that read as literals or blank nodes are written as these. Readable
    names, types and schema follow the facts there; other formats hold facts alone, and a warning
    says what is known besides and not written.
    """
    path = Path(path)
    if path.suffix == "":
        _write_folder(kb, path)
        _warn_of_untold(kb, path)
        return
    if kb.has_splits:
        raise DataError(f"{path}: the graph has splits, a file has none; write it to a folder")
    form = all_formats().get(path.suffix)
    if form is None or form.write is None:
        suffixes = " ".join(writable_suffixes())
        raise DataError(f"{path}: cannot write {path.suffix}; choose from {suffixes}")
    with beside(path) as part:
        form.write(named_facts(kb.facts, kb.vocabulary), part, keep_rdf_terms)
        if form.add_told is not None:
            stated, left = rdf_of(kb.schema)
            told = chain(_types_as_triples(kb), stated)
            form.add_told(told, _labels_as_told(kb.vocabulary), part, keep_rdf_terms)
    if form.add_told is None:
        _warn_of_untold(kb, path)
    elif left:
        warnings.warn(
            f"{path}: {len(left):,} of the schema's statements cannot be said in RDF, and are not "
            f"written: {', '.join(' '.join(filter(None, one)) for one in left[:3])}",
            stacklevel=2,
        )


def _types_as_triples(kb: KnowledgeBase) -> Iterator[Triple]:
    if kb.types is not None:
        entities = rows_of(kb.types.entity_offsets).tolist()
        for entity, kind in zip(entities, kb.types.entity_types.tolist(), strict=True):
            yield kb.vocabulary.entities[entity], TYPE, kb.types.names[kind]


def _labels_as_told(names: Vocabulary) -> Iterator[Label]:
    for ids, labels in (
        (names.entities, names.entity_labels),
        (names.relations, names.relation_labels),
    ):
        for name, label in zip(ids, labels, strict=False):
            if label != name:
                yield Label(name, NAMES[0], label, "")


def _warn_of_untold(kb: KnowledgeBase, path: Path) -> None:
    """Says what is known of a graph besides its facts, where a file holds facts alone."""
    known = {
        "names": any(True for _ in _labels_as_told(kb.vocabulary)),
        "types": kb.types is not None,
        "schema": bool(kb.schema),
    }
    if untold := [what for what, is_known in known.items() if is_known]:
        warnings.warn(
            f"{path}: holds facts alone; {', '.join(untold)} of {kb.source.name} are not written "
            "(.nt holds them)",
            stacklevel=3,
        )


def named_facts(facts: Ids, vocabulary: Vocabulary) -> pl.DataFrame:
    """Facts by name: head, relation, tail."""
    return named_columns(facts, pl.Series(vocabulary.entities), pl.Series(vocabulary.relations))


def named_columns(facts: Ids, entities: pl.Series, relations: pl.Series) -> pl.DataFrame:
    """Facts by name, where the names of all entities and relations are columns already."""
    heads, rels, tails = (np.ascontiguousarray(column) for column in facts.T)
    return pl.DataFrame(
        {
            "head": entities.gather(heads),
            "relation": relations.gather(rels),
            "tail": entities.gather(tails),
        }
    )


def _parsed(path: Path, kept: Kept) -> Mapping[Split, Parsed]:
    """What the file says, or the files of a folder."""
    if not path.is_dir():
        return {Split.TRAIN: format_of(path).read(path, kept)}
    markers = folder_readers()
    for marker, read_marked in markers.items():
        if (path / marker).exists():
            return {split: Parsed(frame) for split, frame in read_marked(path).items()}
    parts = {}
    for split in Split:
        file = find_file(path, split.name.lower(), readable_suffixes())
        if file is not None:
            parts[split] = format_of(file).read(file, kept)
    if Split.TRAIN not in parts:
        raise DataError(
            f"{path}: no train file; expected train with a suffix of "
            f"{' '.join(readable_suffixes())}, plain or .gz, "
            f"or a folder with {' or '.join(markers)}"
        )
    return parts


def _with_schema(told: Told, path: Path, taking: Taking) -> Told:
    """What is told, and what a schema file states; names and types of an RDF file count too."""
    part = None
    if path.suffixes and "".join(path.suffixes[-2:]).lower().removesuffix(".gz") not in SUFFIXES:
        part = format_of(path).read(path, Kept())
    if part is None or not part.is_rdf:
        return replace(told, schema=told.schema | read_schema(path))
    more = stated_in(part, taking)
    return replace(
        told,
        labels={**more.labels, **told.labels},
        types=pl.concat([told.types, more.types]),
        schema=told.schema | more.schema,
    )


def _warn_of_strangers(path: Path, before: Schema, now: Schema, names: Vocabulary) -> None:
    """Says so where a schema speaks of relations, and the graph has none of them."""
    spoken = Schema(now.statements - before.statements).relations()
    if spoken and set(spoken).isdisjoint(names.relations):
        warnings.warn(
            f"{path}: none of its {len(spoken):,} relations is in the graph; it changes nothing",
            stacklevel=4,
        )


def _labels(path: str | Path | None, names: tuple[str, ...], told: Told) -> tuple[str, ...]:
    """A label for each name: of the file, else of the graph, else the name; or none at all."""
    found = read_labels(path, names)
    if not any(name in told.labels for name in names):
        return found
    of_file = dict(zip(names, found, strict=False))
    return tuple(
        of_file[name] if of_file.get(name, name) != name else told.labels.get(name, name)
        for name in names
    )


def _write_folder(kb: KnowledgeBase, path: Path) -> None:
    with folder_beside(path, is_alike=lambda _: False) as part:
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
