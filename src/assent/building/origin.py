"""What a benchmark was built from, and how: the content of its manifest."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.building.counting import Table, table_one
from assent.building.removing import Removal
from assent.core.arrays import Ids, Keys
from assent.core.benchmark import Benchmark
from assent.core.engine import Outline
from assent.core.facts import HEADERS, KnowledgeBase
from assent.core.schema import ENDS
from assent.core.vocabulary import Vocabulary

BLOCK = 1_000_000  # names joined at once
SHOWN = 3  # names that a warning quotes


class Counted(NamedTuple):
    """What was built, in numbers."""

    entities: int
    train: Keys  # (relation,)  train facts of each
    answer_facts: int
    lost_facts: int
    queries: Table
    fakes_wanted: int


def counted(benchmark: Benchmark, parts: Removal, fakes_wanted: int) -> Counted:
    """The numbers of a benchmark in memory."""
    names = benchmark.vocabulary
    return Counted(
        names.num_entities,
        np.bincount(benchmark.train[:, 1], minlength=names.num_relations),
        len(parts.answers),
        len(parts.lost),
        table_one(benchmark),
        fakes_wanted,
    )


def origin_of(
    graph: Outline, sha256: str, counts: Counted, settings: Mapping[str, Any], recipe: int
) -> dict[str, Any]:
    """Settings, source, counts and warnings; the order of the input's lines does not matter."""
    names = graph.vocabulary
    return {
        "recipe": recipe,
        "settings": dict(settings),
        "source": {
            "name": graph.source.name,
            "sha256": sha256,
            "facts": graph.num_facts,
            "entities": names.num_entities,
            "duplicates": graph.source.duplicates,
            "left_out": dict(graph.source.left_out),
            "types": "given" if graph.types else "derived",
            **({"rdf_terms": True} if graph.source.rdf_terms else {}),
        },
        "counts": {
            "entities": counts.entities,
            "relations": names.num_relations,
            "removed_entities": names.num_entities - counts.entities,
            "train_facts": int(counts.train.sum()),
            "answer_facts": counts.answer_facts,
            "lost_facts": counts.lost_facts,
            "queries": counts.queries,
        },
        "warnings": _warnings(counts, names, graph.types is not None),
    }


def outline_of(kb: KnowledgeBase) -> Outline:
    """All of a graph but its facts."""
    return Outline(kb.vocabulary, len(kb.facts), kb.has_splits, kb.source, kb.types, kb.schema)


def digest(kb: KnowledgeBase) -> str:
    """A checksum of the graph: names, facts, splits, types and schema in their sorted order."""
    return digest_of(outline_of(kb), [kb.facts], [kb.splits])


def digest_of(
    graph: Outline, facts: Iterable[Ids], splits: Iterable[NDArray[np.integer[Any]]]
) -> str:
    """The checksum of a graph whose facts and their splits come in blocks, as `digest` has it."""
    sha = hashlib.sha256()
    for names in (graph.vocabulary.entities, graph.vocabulary.relations):
        for start in range(0, len(names), BLOCK):
            text = "\n".join(names[start : start + BLOCK])
            sha.update(("\n" + text if start else text).encode())
        sha.update(b"\0")
    for block in facts:
        sha.update(block.astype("<i4").tobytes())
    for marks in splits:
        sha.update(marks.astype("<i1").tobytes())
    if graph.types:
        sha.update("\n".join(graph.types.names).encode() + b"\0")
        for ids in (
            graph.types.entity_offsets,
            graph.types.entity_types,
            graph.types.slot_offsets,
            graph.types.slot_types,
        ):
            sha.update(ids.astype("<i8").tobytes())
    # Domains and ranges are in the types already.
    for row in sorted(row for row in graph.schema.statements if row.property not in ENDS):
        sha.update("\t".join(row).encode() + b"\0")
    return sha.hexdigest()


def _warnings(counts: Counted, names: Vocabulary, types_given: bool) -> list[str]:
    warnings = _odd_names(names)
    lonely = [names.relation(r) for r in np.flatnonzero(counts.train == 0).tolist()]
    if lonely:
        which = "1 relation has" if len(lonely) == 1 else f"{len(lonely)} relations have"
        warnings.append(f"{which} no train fact left: {', '.join(lonely)}")
    fakes = counts.queries["F"]["total"]
    if missing := counts.fakes_wanted - fakes:
        types = "the types" if types_given else "the types, learned from the graph itself,"
        left = "there are none, so precision on C and F is"
        if fakes:
            left = f"there are {fakes:,}, so precision on C and F is nearer to"
        queries = "query" if missing == 1 else "queries"
        warnings.append(
            f"{missing:,} fewer fake {queries} than wanted: {types} leave too few anchors that "
            f"violate a relation; {left} that on C"
        )
    return warnings


def _odd_names(names: Vocabulary) -> list[str]:
    """What reads as a slip in the file of the graph: a space beside a comma, a header."""
    warnings = []
    spaced = [name for name in (*names.entities, *names.relations) if name != name.strip()]
    if spaced:
        told = ", ".join(map(repr, spaced[:SHOWN]))
        warnings.append(f"{len(spaced):,} names begin or end with a space, such as {told}")
    for head, relation, tail in sorted(HEADERS):
        if relation in names.relations and head in names.entities and tail in names.entities:
            warnings.append(
                f"a fact is {head}, {relation}, {tail}: if that is a header, remove its line"
            )
    return warnings
