"""The same few facts, written by hand in every format."""

import csv
import io
import json
from pathlib import Path

import polars as pl

from assent.files.triples import read
from toy import Fact, named_facts

E = "http://example.org/"
FACTS = [
    (f"{E}oslo", f"{E}capital_of", f"{E}norway"),
    (f"{E}tromsø", f"{E}in", f"{E}norway"),
    (f"{E}new,york", f"{E}in", f"{E}usa"),
    (f"{E}東京", f"{E}twinned_with", f"{E}new,york"),
    (f"{E}🙂", f"{E}likes", f"{E}🙂"),
    (f"{E}oslo", f"{E}capital_of", f"{E}norway"),  # twice
]


def tsv(facts: list[Fact]) -> bytes:
    return "".join("\t".join(fact) + "\n" for fact in facts).encode()


def comma_separated(facts: list[Fact]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(facts)
    return text.getvalue().encode()


def n_triples(facts: list[Fact]) -> bytes:
    return "".join("<{}> <{}> <{}> .\n".format(*fact) for fact in facts).encode()


def turtle(facts: list[Fact]) -> bytes:
    lines = ["<{}> <{}> <{}> .\n".format(*(name.removeprefix(E) for name in f)) for f in facts]
    return f"@base <{E}> .\n{''.join(lines)}".encode()


def n_quads(facts: list[Fact]) -> bytes:
    lines = ["<{}> <{}> <{}> <urn:graph:1> .\n".format(*fact) for fact in facts]
    return "".join(lines).encode()


def trig(facts: list[Fact]) -> bytes:
    return f"<urn:graph:1> {{ {n_triples(facts).decode()} }}\n".encode()


def rdf_xml(facts: list[Fact]) -> bytes:
    lines = [
        f'<r:Description r:about="{h}"><e:{r.removeprefix(E)} r:resource="{t}"/></r:Description>\n'
        for h, r, t in facts
    ]
    start = f'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="{E}">\n'
    return f"{start}{''.join(lines)}</r:RDF>\n".encode()


def json_ld(facts: list[Fact]) -> bytes:
    return json.dumps([{"@id": h, r: {"@id": t}} for h, r, t in facts]).encode()


def parquet(facts: list[Fact]) -> bytes:
    file = io.BytesIO()
    pl.DataFrame(facts, schema=["subject", "predicate", "object"], orient="row").write_parquet(file)
    return file.getvalue()


FILES = {
    "kb.tsv": tsv,
    "kb.txt": tsv,
    "kb.csv": comma_separated,
    "kb.nt": n_triples,
    "kb.ttl": turtle,
    "kb.nq": n_quads,
    "kb.trig": trig,
    "kb.rdf": rdf_xml,
    "kb.owl": rdf_xml,
    "kb.jsonld": json_ld,
    "kb.parquet": parquet,
    "train/train.txt": tsv,
    "train/train.tsv": tsv,
    "train/train.csv": comma_separated,
    "train/train.nt": n_triples,
    "train/train.ttl": turtle,
    "train/train.trig": trig,
    "train/train.jsonld": json_ld,
    "train/train.parquet": parquet,
}


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def put_libkge(folder: Path, splits: dict[str, list[Fact]]) -> Path:
    facts = [fact for part in splits.values() for fact in part]
    # LibKGE's numbers come in any order; ours come from the names.
    entities = sorted({name for head, _, tail in facts for name in (head, tail)}, reverse=True)
    relations = sorted({relation for _, relation, _ in facts}, reverse=True)
    for name, names in (("entity_ids", entities), ("relation_ids", relations)):
        lines = [f"{number}\t{name}\n" for number, name in enumerate(names)]
        put(folder / f"{name}.del", "".join(lines).encode())
    for split, part in splits.items():
        numbers = [(entities.index(h), relations.index(r), entities.index(t)) for h, r, t in part]
        lines = ["\t".join(map(str, row)) + "\n" for row in numbers]
        put(folder / f"{split}.del", "".join(lines).encode())
    put(folder / "dataset.yaml", b"dataset:\n  name: toy\n  files.train.filename: train.del\n")
    return folder


def check(path: Path) -> None:
    kb = read(path)
    assert named_facts(kb.facts, kb.vocabulary) == set(FACTS)
    assert kb.vocabulary.entities == tuple(sorted(kb.vocabulary.entities))
    assert kb.vocabulary.relations == tuple(sorted(kb.vocabulary.relations))
    assert (kb.source.duplicates, kb.has_splits, kb.types) == (1, False, None)
