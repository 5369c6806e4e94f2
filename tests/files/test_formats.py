"""The same facts read the same from whatever format they are kept in."""

import csv
import gzip
import io
from itertools import permutations
from pathlib import Path

import polars as pl
import pytest

from assent.core.facts import Split
from assent.errors import DataError
from assent.files.triples import read, suffix_of
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
    "kb.parquet": parquet,
    "train/train.txt": tsv,
    "train/train.tsv": tsv,
    "train/train.csv": comma_separated,
    "train/train.nt": n_triples,
    "train/train.ttl": turtle,
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


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_facts(name, tmp_path):
    put(tmp_path / name, FILES[name](FACTS))
    check(tmp_path / name if name.startswith("kb") else tmp_path / "train")


@pytest.mark.parametrize("name", [name for name in FILES if "parquet" not in name])
def test_every_text_format_gives_the_same_facts_from_gzip(name, tmp_path):
    put(tmp_path / f"{name}.gz", gzip.compress(FILES[name](FACTS)))
    check(tmp_path / f"{name}.gz" if name.startswith("kb") else tmp_path / "train")


def test_libkge_gives_the_same_facts(tmp_path):
    check(put_libkge(tmp_path, {"train": FACTS}))


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["kb.tsv", "kb.csv", "kb.nt", "kb.ttl"])
def test_windows_habits_change_nothing(name, start, ends, tmp_path):
    content = FILES[name](FACTS).replace(b"\r\n", b"\n").replace(b"\n", ends)
    check(put(tmp_path / name, start + content))


@pytest.mark.parametrize("header", ["head,relation,tail", "Subject,Predicate,Object", "h,r,t"])
def test_the_header_of_a_csv_file_is_no_fact(header, tmp_path):
    check(put(tmp_path / "kb.csv", header.encode() + b"\n" + comma_separated(FACTS)))


@pytest.mark.parametrize("name", ["kb.tsv", "kb.txt"])
def test_other_files_have_no_header(name, tmp_path):
    kb = read(put(tmp_path / name, b"head\trelation\ttail\n" + tsv(FACTS)))
    assert named_facts(kb.facts, kb.vocabulary) == {*FACTS, ("head", "relation", "tail")}


@pytest.mark.parametrize("places", list(permutations(range(3))))
@pytest.mark.parametrize("header", ["head relation tail", "Subject Predicate Object", "s p o"])
def test_parquet_columns_of_known_names_stand_in_any_order(header, places, tmp_path):
    frame = pl.DataFrame(FACTS, schema=header.split(), orient="row")
    frame[:, list(places)].write_parquet(tmp_path / "kb.parquet")
    check(tmp_path / "kb.parquet")


@pytest.mark.parametrize("header", ["a b c", "head relation object", "Head head tail"])
def test_parquet_columns_of_other_names_stand_in_order(header, tmp_path):
    pl.DataFrame(FACTS, schema=header.split(), orient="row").write_parquet(tmp_path / "kb.parquet")
    check(tmp_path / "kb.parquet")


def test_the_splits_of_a_folder_and_of_libkge_are_the_same(tmp_path):
    parts = {"train": FACTS[:2], "valid": FACTS[2:4], "test": FACTS[4:]}
    for split, facts in parts.items():
        put(tmp_path / "folder" / f"{split}.txt", tsv(facts))
    folder = read(tmp_path / "folder")
    libkge = read(put_libkge(tmp_path / "libkge", parts))
    for kb in (folder, libkge):
        assert named_facts(kb.part(Split.TRAIN), kb.vocabulary) == set(FACTS[:2])
        assert named_facts(kb.part(Split.VALID), kb.vocabulary) == set(FACTS[2:4])
        # The last fact of test is one of train: what is trained on is not asked for.
        assert named_facts(kb.part(Split.TEST), kb.vocabulary) == {FACTS[4]}
        assert kb.source.duplicates == 1


def test_each_split_may_have_its_own_format(tmp_path):
    put(tmp_path / "train.nt.gz", gzip.compress(n_triples(FACTS[:2])))
    put(tmp_path / "valid.csv", comma_separated(FACTS[2:4]))
    put(tmp_path / "test.parquet", parquet(FACTS[4:5]))
    kb = read(tmp_path)
    assert [len(kb.part(split)) for split in Split] == [2, 2, 1]


def test_a_graph_is_named_after_its_file_or_folder(tmp_path, monkeypatch):
    put(tmp_path / "graph" / "train.txt", tsv(FACTS))
    assert read(tmp_path / "graph").source.name == "graph"
    assert read(tmp_path / "graph" / "train.txt").source.name == "train.txt"
    monkeypatch.chdir(tmp_path / "graph")
    assert read(".").source.name == "graph"


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.tsv", ".tsv"), ("a.b.TXT.GZ", ".txt"), ("a.nt.gz", ".nt"), ("a.Parquet", ".parquet")],
)
def test_the_suffix_before_gz_says_what_a_file_holds(name, suffix):
    assert suffix_of(Path(name)) == suffix


@pytest.mark.parametrize("name", ["a", "a.gz", "a.parquet.gz", "a.gz.tsv.zip", ".tsv", "tsv"])
def test_other_suffixes_are_refused(name):
    with pytest.raises(DataError, match="unknown suffix"):
        suffix_of(Path(name))
