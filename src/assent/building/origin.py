"""What a benchmark was built from, and how: the content of its manifest."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from assent.building.counting import table_one
from assent.building.removing import Removal
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.schema import ENDS


def origin_of(
    kb: KnowledgeBase,
    benchmark: Benchmark,
    parts: Removal,
    settings: Mapping[str, Any],
    fakes_wanted: int,
) -> dict[str, Any]:
    """Settings, source, counts and warnings; the order of the input's lines does not matter."""
    table = table_one(benchmark)
    return {
        "settings": dict(settings),
        "source": {
            "name": kb.source.name,
            "sha256": digest(kb),
            "facts": len(kb.facts),
            "entities": kb.vocabulary.num_entities,
            "duplicates": kb.source.duplicates,
            "left_out": dict(kb.source.left_out),
            "types": "given" if kb.types else "derived",
            **({"rdf_terms": True} if kb.source.rdf_terms else {}),
        },
        "counts": {
            "entities": benchmark.vocabulary.num_entities,
            "relations": benchmark.vocabulary.num_relations,
            "removed_entities": kb.vocabulary.num_entities - benchmark.vocabulary.num_entities,
            "train_facts": len(benchmark.train),
            "answer_facts": len(parts.answers),
            "lost_facts": len(parts.lost),
            "queries": table,
        },
        "warnings": _warnings(benchmark, fakes_wanted - table["F"]["total"]),
    }


def digest(kb: KnowledgeBase) -> str:
    """A checksum of the graph: names, facts, splits, types and schema in their sorted order."""
    sha = hashlib.sha256()
    for names in (kb.vocabulary.entities, kb.vocabulary.relations):
        sha.update("\n".join(names).encode() + b"\0")
    sha.update(kb.facts.astype("<i4").tobytes())
    sha.update(kb.splits.tobytes())
    if kb.types:
        sha.update("\n".join(kb.types.names).encode() + b"\0")
        for ids in (
            kb.types.entity_offsets,
            kb.types.entity_types,
            kb.types.slot_offsets,
            kb.types.slot_types,
        ):
            sha.update(ids.astype("<i8").tobytes())
    # Domains and ranges are in the types already.
    for row in sorted(row for row in kb.schema.statements if row.property not in ENDS):
        sha.update("\t".join(row).encode() + b"\0")
    return sha.hexdigest()


def _warnings(benchmark: Benchmark, missing_fakes: int) -> list[str]:
    vocabulary = benchmark.vocabulary
    warnings = []
    facts_of = np.bincount(benchmark.train[:, 1], minlength=vocabulary.num_relations)
    lonely = [vocabulary.relations[r] for r in np.flatnonzero(facts_of == 0)]
    if lonely:
        warnings.append(f"{len(lonely)} relations have no train fact left: {', '.join(lonely)}")
    if missing_fakes:
        warnings.append(
            f"{missing_fakes:,} fewer fake queries than wanted: "
            "the types leave too few anchors that violate a relation"
        )
    return warnings
