"""The same facts read the same from whatever format they are kept in."""

import gzip
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from assent.core.facts import Split
from assent.errors import DataError
from assent.files import formats
from assent.files.formats import (
    COLUMNS,
    Format,
    Parsed,
    all_formats,
    readable_suffixes,
    register,
    suffix_of,
    writable_suffixes,
)
from assent.files.triples import read, write
from files.formats_by_hand import (
    FACTS,
    FILES,
    check,
    comma_separated,
    n_triples,
    parquet,
    put,
    tsv,
)
from toy import named_facts, of_names


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_facts(name, tmp_path):
    put(tmp_path / name, FILES[name](FACTS))
    check(tmp_path / name if name.startswith("kb") else tmp_path / "train")


@pytest.mark.parametrize("name", [name for name in FILES if "parquet" not in name])
def test_every_text_format_gives_the_same_facts_from_gzip(name, tmp_path):
    put(tmp_path / f"{name}.gz", gzip.compress(FILES[name](FACTS)))
    check(tmp_path / f"{name}.gz" if name.startswith("kb") else tmp_path / "train")


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["kb.tsv", "kb.csv", "kb.nt", "kb.ttl"])
def test_windows_habits_change_nothing(name, start, ends, tmp_path):
    content = FILES[name](FACTS).replace(b"\r\n", b"\n").replace(b"\n", ends)
    check(put(tmp_path / name, start + content))


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


# The table


def test_the_lines_of_the_tables_tell_what_importing_them_tells():
    known = all_formats()
    rdf = (".jsonld", ".nq", ".nt", ".owl", ".rdf", ".trig", ".ttl")
    expected = tuple(sorted((".csv", ".parquet", ".tsv", ".txt", *rdf)))
    assert readable_suffixes() == tuple(known) == expected
    assert writable_suffixes() == tuple(suffix for suffix, form in known.items() if form.write)


def test_suffixes_are_known_without_polars():
    code = (
        "import sys; from assent.files.formats import readable_suffixes, writable_suffixes; "
        "readable_suffixes(), writable_suffixes(); sys.exit('polars' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_format_is_tried_here():
    assert {suffix_of(Path(name)) for name in FILES} == set(all_formats())


def read_arrows(path, kept):
    rows = [line.split(" -> ") for line in path.read_text().splitlines()]
    return Parsed(pl.DataFrame(rows, schema=list(COLUMNS), orient="row"))


def write_arrows(frame, path, keep_rdf_terms):
    path.write_text("".join(" -> ".join(row) + "\n" for row in frame.iter_rows()))


def test_a_new_format_is_read_written_and_offered(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "_ADDED", {})
    register(".arrows", Format(read_arrows, write=write_arrows))
    write(of_names([("a", "in", "b"), ("b", "in", "c")]), tmp_path / "kb.arrows")
    kb = read(tmp_path / "kb.arrows")
    assert named_facts(kb.facts, kb.vocabulary) == {("a", "in", "b"), ("b", "in", "c")}
    (tmp_path / "kb.arrows").rename(tmp_path / "train.arrows")
    assert len(read(tmp_path).facts) == 2
    assert ".arrows" in readable_suffixes() and ".arrows" in writable_suffixes()
    with pytest.raises(DataError, match=r"choose from \.arrows \.csv"):
        suffix_of(Path("kb.xlsx"))
    with pytest.raises(DataError, match=r"cannot write \.ttl; choose from \.arrows \.nt"):
        write(kb, tmp_path / "kb.ttl")


def test_the_page_about_files_names_every_format():
    page = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
    text = page.read_text(encoding="utf-8")
    assert [suffix for suffix in readable_suffixes() if f"`{suffix}`" not in text] == []
