"""Whole and right files of other programs: checkpoints of LibKGE, exports of PyKEEN, ontologies;
and new facts in every format that they may be given to others in.
"""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import torch

from assent.core.benchmark import Benchmark
from assent.files.fact_lines import read_facts
from assent.files.facts import WRITERS, write_facts
from assent.files.pykeen_exports import write_export

DIM = 4
ONTOLOGY = """\
@prefix : <http://example.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix schema: <http://schema.org/> .
:lives_in a owl:FunctionalProperty ; rdfs:domain :person .
:lives_in rdfs:range [ owl:unionOf ( :town :city ) ] .
:knows a owl:SymmetricProperty ; rdfs:subPropertyOf :met ; owl:inverseOf :known_by .
:in a owl:TransitiveProperty ; owl:equivalentProperty :within .
:in schema:domainIncludes :town, :country .
:town rdfs:subClassOf :place ; owl:disjointWith :person ; owl:equivalentClass :burg .
:place owl:disjointUnionOf ( :town :country ) .
[] a owl:AllDisjointClasses ; owl:members ( :person :place ) .
:ann a :person ; rdfs:label "Ann"@en, "Änne"@de ; :knows :bo, :cy ; :lives_in :oslo .
:bo a :person ; :knows :ann ; :lives_in :rome ; owl:sameAs :bob .
:cy a :person ; :lives_in :oslo .
:oslo a :town ; :in :norway .
:rome a :town ; :in :italy .
"""


def make_elsewhere(corpus: Path, benchmark: Benchmark) -> None:
    """Fills folders of a corpus: `ontology`, `decided`, `adopted`, `pykeen`."""
    (corpus / "ontology").mkdir()
    (corpus / "ontology" / "graph.ttl").write_text(ONTOLOGY, encoding="utf-8")
    (corpus / "decided").mkdir()
    facts = read_facts(corpus / "facts.jsonl").take(np.arange(12))
    for suffix in WRITERS:
        if suffix != ".qs":  # which takes the ids of Wikidata alone
            write_facts(corpus / "decided" / f"facts{suffix}", facts)
    (corpus / "decided" / "facts.qs").write_text("Q1\tP2\tQ3\t/* probability 0.93 */\nQ1\tP2\tQ4\n")
    names = benchmark.vocabulary
    rng = np.random.default_rng(1)
    tables = {
        kind: torch.from_numpy(rng.normal(size=(count, DIM)).astype(np.float32))
        for kind, count in (("entities", names.num_entities), ("relations", names.num_relations))
    }
    (corpus / "adopted").mkdir()
    _checkpoint(corpus / "adopted" / "model.pt", benchmark, tables)
    document = {
        "model": "DistMult", "inverses": False, "norm": 2, "complex": [],
        "entities": {name: place for place, name in enumerate(names.entities)},
        "relations": {name: place for place, name in enumerate(names.relations)},
    }  # fmt: skip
    write_export(corpus / "pykeen", document, {**tables, "facts": torch.zeros((1, 3)).long()})


class _Config:
    """What a checkpoint of LibKGE keeps its settings in: an object of its own class."""

    __module__, __qualname__ = "kge.config", "Config"

    def __init__(self, options: dict[str, object]) -> None:
        self.folder, self.log_folder, self.options = "/somewhere", None, options


def _checkpoint(path: Path, benchmark: Benchmark, tables: dict[str, torch.Tensor]) -> None:
    """A packaged model, as LibKGE writes it."""
    config = ModuleType("kge.config")
    config.Config = _Config  # type: ignore[attr-defined]
    sys.modules |= {"kge": ModuleType("kge"), "kge.config": config}
    names = benchmark.vocabulary
    weights = {
        "_entity_embedder._embeddings.weight": tables["entities"],
        "_relation_embedder._embeddings.weight": tables["relations"],
    }
    meta = {"entity_ids": list(names.entities), "relation_ids": list(names.relations)}
    try:
        torch.save(
            {
                "type": "package", "epoch": 3, "model": (weights, {}), "job_id": "a-b-c",
                "config": _Config({"model": "distmult", "distmult": {"class_name": "DistMult"}}),
                "dataset": {"num_entities": names.num_entities, "meta": meta},
            },
            path,
        )  # fmt: skip
    finally:
        del sys.modules["kge"], sys.modules["kge.config"]
